import Larder
import Testing

@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

struct ArgumentsTests {
  static func arguments(_ line: String...) throws -> Arguments {
    try arguments(line.map { Array($0.utf8) })
  }

  static func arguments(_ line: [[UInt8]]) throws -> Arguments {
    guard case .run(_, let arguments) = try Request(line) else {
      throw UsageError("not a verb to run")
    }
    return arguments
  }

  @Test func `places take their arguments in order`() throws {
    let put = try Self.arguments("put", "dir", "key", "file")
    #expect(put.directory == Array("dir".utf8))
    #expect(put[.key] == [Array("key".utf8)])
    #expect(put[.file] == [Array("file".utf8)])
    #expect(try Self.arguments("put", "dir", "key")[.file].isEmpty)
    #expect(try Self.arguments("demo").directory.isEmpty)
  }

  @Test func `the last place may take many`() throws {
    let rm = try Self.arguments("rm", "d", "a", "", "b")
    #expect(rm[.key] == [Array("a".utf8), [], Array("b".utf8)])
    #expect(try Self.arguments("stamp", "d")[.name].isEmpty)
    #expect(try Self.arguments("stamp", "d", "x", "y")[.name].count == 2)
  }

  @Test func `a key file stands for the key`() throws {
    let put = try Self.arguments("put", "d", "file", "--key-file", "k")
    #expect(put[.key].isEmpty)
    #expect(put[.file] == [Array("file".utf8)])
    #expect(put.file(.keyFile) == Array("k".utf8))
    #expect(try Self.arguments("get", "d", "--key-file=k")[.key].isEmpty)
  }

  @Test func `paths and keys keep bytes that are not UTF-8`() throws {
    let line = [Array("get".utf8), [0x2F, 0xFF], [0x80, 0x00, 0x0A], Array("-o".utf8), [0xC0]]
    let get = try Self.arguments(line)
    #expect(get.directory == [0x2F, 0xFF])
    #expect(get[.key] == [[0x80, 0x00, 0x0A]])
    #expect(get.file(.output) == [0xC0])
  }

  @Test func `every kind of value is read`() throws {
    let trim = try Self.arguments("trim", "--to", "16M", "d", "--dry-run")
    #expect(trim.size(.trimToSize) == ByteCount(16 << 20))
    #expect(trim.has(.dryRun) && !trim.has(.json))
    #expect(try Self.arguments("trim", "--count=9", "d").count(.trimToCount) == 9)
    #expect(
      try Self.arguments("trim", "--age", "1h", "d").duration(.trimToAge) == TimeSpan(seconds: 3600)
    )
    let put = try Self.arguments("put", "--expires", "never", "--ext", ".json", "d", "k")
    #expect(put.expiration(.putExpires) == .never)
    #expect(put.fileExtension == FileExtension(Array("json".utf8)))
    let list = try Self.arguments("list", "d", "--sort", "key", "-n5")
    #expect(list.choice(.sort).flatMap(EntryOrder.init) == .key)
    #expect(list.count(.first) == 5)
  }

  @Test func `what was not given is nil`() throws {
    let list = try Self.arguments("list", "d")
    #expect(list.choice(.sort) == nil && list.count(.limit) == nil)
    #expect(list.size(.trimToSize) == nil && list.duration(.trimToAge) == nil)
    #expect(list.expiration(.putExpires) == nil && list.file(.output) == nil)
    #expect(list.fileExtension == nil && list[.key].isEmpty)
  }

  @Test func `a flag may be repeated`() throws {
    #expect(try Self.arguments("info", "--json", "d", "--json").has(.json))
  }

  @Test(arguments: [
    (["get"], "DIR is missing: larder get [OPTIONS] DIR KEY"),
    (["get", "d"], "KEY is missing: "),
    (["get", "d", "k", "x"], "'x' is one argument too many: "),
    (["get", "", "k"], "DIR is empty: "),
    (["put", "d", "k", ""], "FILE|- is empty: "),
    (["rm", "d"], "KEY is missing: "),
    (["rm", "d", "k", "--key-file", "f"], "'k' is one argument too many: "),
    (["demo", "d"], "'d' is one argument too many: "),
    (["trim", "d"], "exactly one of --to, --count, --age is needed"),
    (["trim", "d", "--to", "1", "--count", "1"], "exactly one of --to, --count, --age is needed"),
    (["trim", "d", "--to", "x"], "--to: 'x' is not a number; sizes are bytes"),
    (["trim", "d", "--to", "-1"], "--to: '-1' is negative; sizes are bytes"),
    (["trim", "d", "--to"], "--to SIZE: the value is missing"),
    (["trim", "d", "--to", "--json"], "--to SIZE: the value is missing"),
    (["trim", "d", "--to="], "--to: '' is empty; "),
    (["trim", "d", "--age", "never"], "--age: 'never' is not a number; durations end in"),
    (["trim", "d", "--to", "1", "--to", "2"], "--to is given twice"),
    (["clear", "d"], "removes every entry, so it needs --force"),
    (["clear", "d", "--force=yes"], "--force takes no value"),
    (["get", "d", "k", "--json"], "--json needs -o FILE"),
    (["get", "d", "k", "--json", "-o", "-"], "--json needs -o FILE"),
    (["get", "d", "k", "-o", ""], "--output: '' is empty; name a file"),
    (["get", "d", "k", "--force"], "there is no option --force here; it is for trim, clear"),
    (["get", "d", "-5"], "there is no option '-5'; an argument that begins with a dash"),
    (
      ["put", "d", "k", "--expire", "1d"], "there is no option '--expire'; did you mean --expires?"
    ),
    (["put", "d", "--key-file", "-"], "only one of key, value and data can come from stdin"),
    (["put", "d", "--key-file", "-", "-"], "only one of key, value and data can come from stdin"),
    (["list", "d", "--sort", "age"], "--sort: 'age' is not a choice; say one of used, value"),
    (["list", "d", "-n", "1.5"], "--first: '1.5' is not a whole number"),
    (["put", "d", "k", "--ext", "a/b"], "--ext: 'a/b' is no extension"),
  ])
  func `a command line that cannot be meant is refused`(line: [String], message: String) throws {
    let error = #expect(throws: UsageError.self) {
      try Self.arguments(line.map { Array($0.utf8) })
    }
    let refused = try #require(error)
    #expect(refused.message.hasPrefix(message))
    #expect(refused.verb?.name == line[0])
  }

  @Test(arguments: [
    ["clear", "d", "--force"], ["clear", "d", "--dry-run"], ["clear", "d", "--force", "--dry-run"],
    ["get", "d", "k", "--json", "-o", "f"], ["put", "d", "--key-file", "-", "f"],
    ["put", "d", "--key-file", "f"], ["put", "d", "k", "-"], ["get", "d", ""],
    ["get", "d", "--", "-5"], ["trim", "d", "--age", "0", "--force"], ["list", "d", "-n", "0"],
  ])
  func `what only looks odd is accepted`(line: [String]) throws {
    _ = try Self.arguments(line.map { Array($0.utf8) })
  }
}
