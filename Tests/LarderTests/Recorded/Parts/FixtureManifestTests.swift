import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures

struct `A fixture's manifest` {
  private func line(_ key: String, used seconds: Int64 = 1_800_000_000) -> FixtureLine {
    FixtureLine(
      name: EntryName(CacheKey(key)), proof: .key(Array(key.utf8)), expiry: .never,
      lastAccess: Timestamp(seconds: seconds), lifetime: .never, contentHash: 1)
  }

  private func manifest(_ lines: FixtureLine...) -> FixtureManifest {
    var manifest = FixtureManifest()
    for line in lines { manifest.set(line) }
    return manifest
  }

  @Test func `is sorted by name, and read in any order`() throws {
    let manifest = manifest(line("a"), line("b"), line("c"))
    let lines = manifest.text.split(separator: "\n")
    #expect(lines.count == 3 && lines == lines.sorted())
    let mixed = lines.reversed().joined(separator: "\n\n")
    #expect(try FixtureManifest(parsing: mixed) == manifest)
    #expect(try FixtureManifest(parsing: mixed).text == manifest.text)
  }

  @Test func `is empty for an empty fixture`() throws {
    #expect(try FixtureManifest(parsing: "") == FixtureManifest())
    #expect(FixtureManifest().text.isEmpty && FixtureManifest().latestAccess == nil)
  }

  @Test func `knows the last use`() {
    let manifest = manifest(line("a", used: 5), line("b", used: 9), line("c", used: 7))
    #expect(manifest.latestAccess == Timestamp(seconds: 9))
  }

  @Test func `names the line that is none, such as what a merge has left`() {
    let good = line("a").description
    let problem = #expect(throws: FixtureManifest.Problem.self) {
      _ = try FixtureManifest(parsing: "\(good)\n<<<<<<< ours\n")
    }
    #expect(problem?.lineNumber == 2)
  }

  @Test func `keeps all lines of one key that a merge has left, and of equal ones one`() throws {
    let (ours, theirs) = (line("a", used: 5), line("a", used: 9))
    let merged = try FixtureManifest(parsing: "\(theirs)\n\(ours)\n\(theirs)\n")
    #expect(Set(merged.candidates(for: ours.name).map(\.description)).count == 2)
    #expect(merged.text == "\(ours)\n\(theirs)\n" && merged.lines.count == 1)
    for text in ["\(theirs)\n\(ours)\n", "\(ours)\n\(theirs)\n"] {
      #expect(try FixtureManifest(parsing: text).latestAccess == Timestamp(seconds: 9))
    }
    var mended = merged
    mended.set(ours)
    #expect(mended == manifest(ours))
  }
}
