import Larder
import Testing

@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

struct FileExtensionParsingTests {
  @Test(arguments: [
    ("json", "json"), (".json", "json"), ("7z", "7z"), ("JPG", "JPG"), ("a", "a"),
    ("abcdefghij0123456789", "abcdefghij0123456789"),
  ])
  func `one to twenty letters or digits are an extension`(text: String, name: String) throws {
    #expect(try Array(FileExtension(parsing: text.utf8).bytes) == Array(name.utf8))
  }

  @Test(arguments: [
    "", ".", "..json", "tar.gz", "a/b", "abcdefghij0123456789x", "j\u{f6}n", "a b", "-x", "\u{0}",
    "\u{661}", "a-", "[", "`", "{", "@", "/",
  ])
  func `anything else is none`(text: String) throws {
    let error = #expect(throws: ValueError.self) { try FileExtension(parsing: text.utf8) }
    #expect(try #require(error).description.contains("is no extension"))
  }
}
