import LarderFixtures
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

@Suite(
  .enabled("no attributes or stamps of 2242 under the temporary folder") {
    FileSystemFeatures.hasAttributes && FileSystemFeatures.holdsNever
  })
struct `The page on the format` {}

extension `The page on the format` {
  private static let name = "900150983cd24fb0d6963f7d28e17f72"

  @Test func `shows what ordinary commands print of the golden directory`() throws {
    let directory = try TemporaryDirectory()
    try Fixture("basic").build(in: directory)
    let steps = try FormatPage.steps()
    #expect(steps.count == 4)
    for step in steps where !step.command.hasPrefix("getfattr") || Shell.has("getfattr") {
      #expect(try Shell.run(step.command, in: directory.path) == step.output, "\(step.command)")
    }
  }

  @Test func `dumps the bytes that the golden directory holds`() throws {
    let fixture = try Fixture("basic")
    let line = try #require(fixture.lines.first { $0.name == Self.name })
    let dumps = try FormatPage.steps().filter { $0.command.hasSuffix("od -A x -t x1z") }
    let attribute = try #require(dumps.first)
    #expect(FormatPage.bytes(ofDump: attribute.output) == line.entryAttribute)
    let content = try #require(try FormatPage.steps().first { $0.command.hasPrefix("od") })
    #expect(try FormatPage.bytes(ofDump: content.output) == fixture.content(of: Self.name))
  }

  @Test func `dumps an attribute that this code writes`() throws {
    let key = CacheKey("abc")
    let attribute = EntryAttribute(
      contentHash: XXH64(Array("hello".utf8).span).finalize(), lifetime: .seconds(604_800),
      proof: .key(key.bytes))
    let steps = try FormatPage.steps()
    let dump = try #require(steps.last { $0.command.hasPrefix("getfattr") })
    #expect(FormatPage.bytes(ofDump: dump.output) == attribute.bytes)
  }
}
