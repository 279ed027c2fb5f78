import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem
@testable import LarderTool

struct `A directory of recorded values` {
  private let scene: TemporaryDirectory
  private let path: String

  init() throws {
    scene = try TemporaryDirectory()
    path = scene.path + "/fixture"
  }

  @discardableResult
  private func record(
    _ key: CacheKey, _ value: String,
    _ change: (inout FixtureDirectory.Recording) -> Void = { _ in }
  ) throws -> FixtureDirectory {
    let directory = try FixtureDirectory(path, makesDirectory: true)
    var recording = FixtureDirectory.Recording(Array(value.utf8), expiration: .days(7))
    change(&recording)
    try directory.record(recording, forKey: key, at: FixtureDirectory.start)
    return directory
  }

  private func kinds() throws -> [FixtureFinding.Kind] {
    try FixtureDirectory(path).check().findings.map(\.kind)
  }

  /// Copies the files as git does: content and names stay, everything else is lost.
  private func forgetAllButContent() throws {
    try Shell.run(
      "cp -r --no-preserve=all fixture copy; rm -r fixture; mv copy fixture", in: scene.path)
  }

  @Test func `holds a file a value, a manifest and what git has to know`() throws {
    try record("abc", "hello")
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names == [".gitattributes", "900150983cd24fb0d6963f7d28e17f72", "manifest"])
    let text = try String(contentsOfFile: path + "/manifest", encoding: .utf8)
    #expect(
      text.hasPrefix(#"900150983cd24fb0d6963f7d28e17f72 "abc" expires=2027-01-22T08:00:00Z "#))
    #expect(try kinds().isEmpty)
  }

  @Test func `is the same for the same records in any order, on any day`() throws {
    try record("abc", "hello")
    try record("é", "", { $0.expiration = .never })
    try record("abc", "other")
    let first = try DirectoryRecord(path)
    try FileManager.default.removeItem(atPath: path)
    try record("é", "", { $0.expiration = .never })
    try record("abc", "other")
    #expect(try DirectoryRecord(path).contents == first.contents)
  }

  @Test func `changes no byte when a value is recorded again`() throws {
    try record("abc", "hello")
    let manifest = try FileManager.default.attributesOfItem(atPath: path + "/manifest")
    try record("abc", "hello")
    let again = try FileManager.default.attributesOfItem(atPath: path + "/manifest")
    #expect(manifest[.systemFileNumber] as? Int == again[.systemFileNumber] as? Int)
  }

  @Test(arguments: [
    ("* binary", true), ("*\t-text -merge\r", true), ("* -text\n* -merge", true), ("", false),
    ("* -text", false), ("* -merge", false), ("*.json binary", false),
    ("* binary\n* merge=union", false), ("# * binary", false), ("* -text -merge text=auto", false),
    ("** binary", true), ("**/* binary", true), ("/** binary", true), ("/* binary", true),
    ("\"*\" binary", true), ("[0-9a-f]* binary", true), ("9*[!0-13-9] binary", true),
    ("? binary", false), ("*/* binary", false), ("fixture/* binary", false), ("*/ binary", false),
    ("* binary\n9* text", false), ("* -text merge=binary", true), ("9001* binary", true),
    ("90015098\\3* binary", true), ("* binary\n**/x/* text", true),
    ("* filter=lfs -text -merge", false), ("* ident\n* binary", false),
    ("* filter=lfs ident\n* binary -filter !ident", true),
    ("* working-tree-encoding=UTF-16\n* -text -merge -working-tree-encoding", true),
  ])
  func `takes as protection what keeps git from converting and merging`(
    text: String, protects: Bool
  ) throws {
    try record("abc", "hello")
    let lines = text + "\nmanifest -text"
    try Data(lines.utf8).write(to: URL(filePath: path + "/.gitattributes"))
    #expect(try kinds() == (protects ? [] : [.unprotected]))
  }

  @Test(arguments: [
    ("fixture/* binary", "", true), ("fixture/** binary", "", true),
    ("/fixture/* binary", "", true),
    ("**/fixture/** binary", "", true), ("**/900* binary", "", true), ("* binary", "", true),
    ("fixture binary", "", false), ("fixture/ binary", "", false), ("/* binary", "", false),
    ("*/fixture/* binary", "", false), ("**/x/** binary", "", false),
    ("fix**ure/* binary", "", true), ("f**/900* binary", "", true), ("** binary", "* text", false),
    ("fixture/* text", "* binary", true), ("* -text", "* -merge", true),
    ("\"fix*\" binary\n\"fixture/9*\" binary", "", true), ("* binary\n\"fix */*\" text", "", true),
    ("* binary\n\"**/9*\" text", "", false), ("* binary\n\"fixture/9[0 ]*\" text", "", false),
  ])
  func `reads the lines of the directories above it as git does`(
    above: String, own: String, protects: Bool
  ) throws {
    let name = "\(EntryName(CacheKey("abc")))"
    try record("abc", "hello")
    for (text, path) in [(above, scene.path), (own + "\nmanifest -text", path)] {
      try Data(text.utf8).write(to: URL(filePath: path + "/.gitattributes"))
    }
    try Shell.run("git init -q .", in: scene.path)
    let told = try Shell.run("git check-attr text merge -- fixture/\(name)", in: scene.path)
    // Git itself says so.
    let isUnset =
      told.contains("text: unset")
      && (told.contains("merge: unset") || told.contains("merge: binary"))
    #expect(isUnset == protects)
    #expect(try kinds() == (protects ? [] : [.unprotected]))
  }

  @Test func `takes no line from above the repository`() throws {
    try record("abc", "hello")
    try Shell.run(
      "echo '* binary' > .gitattributes; : > fixture/.gitattributes; git init -q fixture",
      in: scene.path)
    #expect(try kinds() == [.unprotected])
  }

  @Test(arguments: [
    ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c\n", true), ("x\n<<<<<<< \n=======\n>>>>>>> ", true),
    ("=======\n<<<<<<< a\n>>>>>>> b\n", false), ("a <<<<<<< a\n=======\n>>>>>>> b\n", false),
    ("<<<<<<< a\n=======\n", false), ("", false),
  ])
  func `knows the marks of a conflict by their order`(content: String, hasConflict: Bool) {
    #expect(FixtureDirectory.hasConflict(Array(content.utf8)) == hasConflict)
  }

  @Test func `tells which values have expired when its clock begins`() throws {
    let directory = try record("short", "a", { $0.expiration = .seconds(1) })
    try record("kept by no cache", "b", { $0.expiration = .expired })
    #expect(try kinds().isEmpty)
    try directory.record(
      .init([1], expiration: .days(1)), forKey: "later",
      at: FixtureDirectory.start.adding(seconds: 1))
    #expect(try kinds() == [.expired])
    #expect(try directory.check(allowsExpired: true).findings.isEmpty)
  }

  @Test func `has no line of a value of which a newer one could not be recorded in full`() throws {
    try record("abc", "hello")
    let faults = FaultInjector()
    // The manifest is renamed to its name first.
    faults.plan(.errno(.ioError), for: .renameat, at: 2)
    let directory = try FixtureDirectory(path, faults: faults)
    #expect(throws: CacheError.self) {
      try directory.record(
        .init([1], expiration: .days(1)), forKey: "abc", at: FixtureDirectory.start)
    }
    #expect(try kinds() == [.unlisted])
  }

  @Test func `lets no other writer in between the lines of an old and a new value`() throws {
    try record("abc", "hello")
    let faults = FaultInjector()
    let codes = Shared<[CacheError.Code]>([])
    var other = try FixtureDirectory(path)
    other.patience = .zero
    faults.plan(
      .before { [other] in
        do throws(CacheError) {
          try other.record(.init([2], expiration: .never), forKey: "k", at: FixtureDirectory.start)
        } catch {
          codes.change { $0.append(error.code) }
        }
      }, for: .renameat, at: 2)
    try FixtureDirectory(path, faults: faults).record(
      .init([1], expiration: .days(1)), forKey: "abc", at: FixtureDirectory.start)
    #expect(codes.value == [.locked])
    #expect(try kinds().isEmpty)
  }

  @Test func `is made with the folders above it, which every user may read`() throws {
    _ = try FixtureDirectory(scene.path + "/a/b//fixture/", makesDirectory: true)
    #expect(
      try Shell.run("stat -c '%a %n' a a/b a/b/fixture", in: scene.path)
        == "755 a\n755 a/b\n755 a/b/fixture\n")
    try Shell.run("ln -s nothing link", in: scene.path)
    for path in ["", "\(scene.path)/link", "\(scene.path)/link/fixture"] {
      let error = #expect(throws: CacheError.self) {
        try FixtureDirectory(path, makesDirectory: true)
      }
      #expect(error?.code == .directoryMissing)
    }
  }

  @Test func `records no value that no read of it would take`() throws {
    let count = DiskCache.Configuration().sizeLimit! + 1
    // Not one byte of it is touched.
    let long = unsafe [UInt8](unsafeUninitializedCapacity: count) { $1 = count }
    let directory = try record("abc", "hello")
    let error = #expect(throws: CacheError.self) {
      try directory.record(
        .init(long, expiration: .never), forKey: "abc", at: FixtureDirectory.start)
    }
    #expect(error?.code == .invalidArgument)
    #expect(try kinds().isEmpty)
  }

  @Test func `loses what a writer has left that was killed`() throws {
    try record("abc", "hello")
    try Shell.run("touch .larder-1-1", in: path)
    try record("def", "hello")
    #expect(!FileManager.default.fileExists(atPath: path + "/.larder-1-1"))
  }

  @Test func `takes a recording without a line as used at its time, whoever has read it`() throws {
    try record("listed", "hello")
    try record("abc", "hello")
    let (name, lines) = (EntryName(CacheKey("abc")), try FixtureDirectory(path).manifest())
    let forget = "grep listed manifest > m; mv m manifest; touch -a -d 2020-01-01 \(name)"
    try Shell.run(forget, in: path)
    try FixtureDirectory(path).pack(from: path)
    #expect(try FixtureDirectory(path).manifest() == lines)
    try Shell.run(forget, in: path)
    _ = try LarderFixtures.Fixture(path, isRecording: true).copy()
    #expect(try FixtureDirectory(path).manifest() == lines)
    #expect(try kinds().isEmpty)
  }

  @Test func `needs its manifest kept from new line endings`() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try Data("[0-9a-f]* binary\n".utf8).write(to: URL(filePath: path + "/.gitattributes"))
    try record("abc", "hello")
    #expect(try kinds() == [.unprotected])
  }

  @Test func `leaves the .gitattributes of its authors alone`() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try Data("* binary\n".utf8).write(to: URL(filePath: path + "/.gitattributes"))
    try record("abc", "hello")
    #expect(try String(contentsOfFile: path + "/.gitattributes", encoding: .utf8) == "* binary\n")
  }

  @Test(.enabled(if: FileSystemFeatures.hasAttributes))
  func `becomes a cache again after a clone, to the nanosecond`() throws {
    let long = String(repeating: "k", count: 3000)
    try record("abc", "hello") { $0.extendedData = Array("ETag".utf8) }
    try record(CacheKey(long), "long")
    try record("date", "x") {
      $0.expiration = .date(Timestamp(seconds: 1_900_000_000, nanoseconds: 7))
    }
    try record("page", "<p>") { $0.fileExtension = FileExtension(Array("html".utf8))! }
    try record("empty", "") { $0.expiration = .never }
    try forgetAllButContent()
    #expect(try kinds().isEmpty)
    #expect(try FixtureDirectory(path).unpack(into: scene.path + "/cache").names.count == 5)
    var configuration = DiskCache.Configuration()
    configuration.clock = ManualClock(FixtureDirectory.start).wallClock
    let cache = try DiskCache(directory: scene.path + "/cache", configuration: configuration)
    let value = try #require(try cache.read(forKey: "abc", extending: .off))
    #expect(value.value == Array("hello".utf8) && value.extendedData == Array("ETag".utf8))
    #expect(value.expiry == FixtureDirectory.start.adding(seconds: 604_800))
    #expect(try cache.value(forKey: long) == Array("long".utf8))
    #expect(
      try cache.entry(forKey: "date")?.expiry == Timestamp(seconds: 1_900_000_000, nanoseconds: 7))
    #expect(try cache.value(forKey: "empty") == [])
    #expect(try cache.verify().damaged.isEmpty)
    #expect(try cache.count() == 5)
  }

  @Test(.enabled(if: FileSystemFeatures.hasAttributes))
  func `is what a cache was that was packed into it and unpacked again`() throws {
    try Larder.DiskCache(directory: scene.path + "/a").store(Array("v".utf8), forKey: "k")
    try scene.withCache("a") { cache in
      try cache.store([1, 2], forKey: "data", extendedData: [0, 255])
      try cache.store([], forKey: "never", expiration: .never)
    }
    #expect(
      try FixtureDirectory(path, makesDirectory: true).pack(from: scene.path + "/a").names.count
        == 3)
    try forgetAllButContent()
    try FixtureDirectory(path).unpack(into: scene.path + "/b")
    let (a, b) = try (DirectoryRecord(scene.path + "/a"), DirectoryRecord(scene.path + "/b"))
    #expect(a.manifest == b.manifest && a.contents == b.contents)
  }

  @Test func `is brought up to its files by packing it into itself`() throws {
    try record("abc", "hello")
    try record("gone", "x")
    try record("stays", "y") { $0.extendedData = [7] }
    try forgetAllButContent()
    try Shell.run("printf ' and more' >> \(EntryName(CacheKey("abc")))", in: path)
    try Shell.run("rm \(EntryName(CacheKey("gone")))", in: path)
    try Shell.run("printf new > \(EntryName(CacheKey("new"))); rm .gitattributes", in: path)
    #expect(try Set(kinds()) == [.changed, .missing, .unlisted, .unprotected])
    #expect(try FixtureDirectory(path).pack(from: path).names.count == 3)
    #expect(try kinds().isEmpty)
    let lines = try FixtureDirectory(path).manifest().lines.compactMapValues(\.first)
    #expect(lines[EntryName(CacheKey("stays"))]?.extendedData == [7])
    #expect(lines[EntryName(CacheKey("abc"))]?.key == "abc")
    #expect(lines[EntryName(CacheKey("new"))]?.expiry == .never)
  }

  @Test func `tells lines out of order and keys of other names`() throws {
    try record("abc", "hello")
    try record("b", "x")
    let text = try String(contentsOfFile: path + "/manifest", encoding: .utf8)
    let reversed = text.split(separator: "\n").reversed().joined(separator: "\n") + "\n"
    try Data(reversed.utf8).write(to: URL(filePath: path + "/manifest"))
    #expect(try kinds() == [.unsorted])
    try Data(text.replacing("\"abc\"", with: "\"abd\"").utf8)
      .write(to: URL(filePath: path + "/manifest"))
    #expect(try kinds() == [.misnamed])
  }

  @Test func `keeps every line when many threads record at once`() async throws {
    _ = try FixtureDirectory(path, makesDirectory: true)
    try await withThrowingTaskGroup { group in
      for number in 0..<24 {
        group.addTask { _ = try record(CacheKey("key \(number)"), "\(number)") }
      }
      try await group.waitForAll()
    }
    #expect(try FixtureDirectory(path).manifest().lines.count == 24)
    #expect(try kinds().isEmpty)
  }

  @Test func `refuses a manifest with a line that is none, by its number`() throws {
    try record("abc", "hello")
    try Shell.run("echo '>>>>>>> theirs' >> manifest", in: path)
    let error = #expect(throws: CacheError.self) { try FixtureDirectory(path).check() }
    #expect(error?.code == .invalidArgument && error?.description.contains("line 2") == true)
  }
}

extension TemporaryDirectory {
  /// Opens a cache in a folder of this directory, runs a body with it, and closes it.
  fileprivate func withCache(_ name: String, _ body: (DiskCache) throws -> Void) throws {
    let cache = try DiskCache(directory: "\(path)/\(name)")
    try body(cache)
    try cache.close()
  }
}
