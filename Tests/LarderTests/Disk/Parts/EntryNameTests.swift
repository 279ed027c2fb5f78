import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

struct `Names of entries` {
  static let digits = "900150983cd24fb0d6963f7d28e17f72"

  @Test(arguments: [
    digits, digits + ".json", digits + ".A", digits + ".0123456789abcdefGHIJ",
    "00000000000000000000000000000000", "ffffffffffffffffffffffffffffffff.z",
  ])
  func `a name of the grammar is read and written back`(text: String) throws {
    let name = try #require(EntryName(FileName(text: text)))
    #expect(name.fileName.text == text)
    #expect(EntryName(name.fileName) == name)
  }

  @Test(arguments: [
    "", ".", "..", ".larder-1-1", "CACHEDIR.TAG", "lost+found", ".nfs000000000000000000000001",
    String(digits.dropLast()), digits + "0", digits.uppercased(), digits + ".",
    digits + ".0123456789abcdefGHIJk", digits + ".a.b", digits + ".a-b", digits + "_json",
    digits + ".é", " " + digits.dropFirst(), digits + ".\u{0}", digits + "~",
    "9001509 3cd24fb0d6963f7d28e17f72", digits.replacing("f", with: "g"),
  ])
  func `anything else is not an entry`(text: String) {
    #expect(EntryName(FileName(text: text)) == nil)
  }

  @Test func `the order is that of the names' bytes`() throws {
    let texts = [
      low(0), low(0) + ".A", low(0) + ".a", low(0) + ".aa", low(0) + ".b", low(1),
      "ffffffffffffffffffffffffffffffff",
    ]
    let names = try texts.map { try #require(EntryName(FileName(text: $0))) }
    #expect(names.shuffled().sorted() == names)
    #expect(texts.shuffled().sorted { Array($0.utf8).lexicographicallyPrecedes($1.utf8) } == texts)
  }

  private func low(_ last: Int) -> String {
    String(repeating: "0", count: 31) + "\(last)"
  }

  @Test func `the printed hash of a key names its file`() {
    #expect(DiskScene.name(of: Array("abc".utf8)).fileName.text == Self.digits)
    #expect(DiskScene.name(of: []).fileName.text == "d41d8cd98f00b204e9800998ecf8427e")
  }

  @Test(arguments: [
    (".larder-1-1", true), (".larder-123456-99", true), (".larder-1", false), (".larder-", false),
    (".larder-1-2-3", false), (".larder-a-1", false), ("larder-1-1", false),
  ])
  func `a temporary has a process and a serial number`(text: String, isTemporary: Bool) {
    #expect(FileName(text: text).isTemporary == isTemporary)
  }

  @Test(arguments: [("", nil), ("json", "json"), ("a.b", nil), ("é", nil), ("../x", nil)])
  func `an extension in the configuration is checked`(text: String, kept: String?) throws {
    var configuration = DiskCache.Configuration()
    configuration.fileExtension = text
    if let kept {
      #expect(try Array(configuration.parsedFileExtension().bytes) == Array(kept.utf8))
    } else {
      #expect(throws: CacheError.self) { try configuration.parsedFileExtension() }
    }
  }
}
