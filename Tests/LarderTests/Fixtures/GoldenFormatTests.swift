import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

@Suite(
  .enabled("no attributes or stamps of 2242 under the temporary folder") {
    FileSystemFeatures.hasAttributes && FileSystemFeatures.holdsNever
  })
struct `Format 1` {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }
}

extension `Format 1` {
  @Test func `is written today byte for byte as the golden directory has it`() throws {
    let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
    for entry in GoldenEntry.all {
      clock.advance(by: .seconds(1))
      let cache = try DiskCache(
        directory: directory.path, configuration: entry.configuration(clock, .shared))
      #expect(
        try cache.store(
          entry.value, forKey: entry.key, expiration: entry.expiration,
          extendedData: entry.extendedData) == .stored)
      try cache.close()
    }
    // The umask decides who may read the tag.
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: "\(directory.path)/CACHEDIR.TAG")
    let golden = try Fixture("basic")
    let written = try DirectoryRecord(directory.path)
    #expect(written.manifest == golden.manifest)
    for (name, bytes) in written.contents {
      #expect(try bytes == golden.content(of: name), "\(name)")
    }
  }

  @Test(arguments: [DiskCache.Mode.shared, .exclusive, .readOnly, .fixture])
  func `is read as it was stored`(mode: DiskCache.Mode) throws {
    try Fixture("basic").build(in: directory)
    let stored = Timestamp(seconds: 1_800_000_000)
    let clock = ManualClock(stored.adding(seconds: 20))
    for (index, entry) in GoldenEntry.all.enumerated() {
      let cache = try DiskCache(
        directory: directory.path, configuration: entry.configuration(clock, mode))
      let found = try #require(
        try cache.read(forKey: entry.key, extending: .off))
      let access = stored.adding(seconds: Int64(index + 1))
      #expect(found.value == entry.value)
      #expect(found.extendedData == entry.extendedData)
      #expect(found.lastAccess == access)
      let expiry = entry.expiration.expiry(at: access)
      #expect(found.expiry == (expiry < .never ? expiry : nil))
      #expect(try cache.verify().damaged == [])
      try cache.close()
    }
  }

  @Test func `tells which key a file is of wherever that was recorded`() throws {
    try Fixture("basic").build(in: directory)
    var configuration = DiskCache.Configuration()
    configuration.mode = .fixture
    let cache = try DiskCache(directory: directory.path, configuration: configuration)
    let recorded = Set(try cache.entries().compactMap(\.key))
    let expected = GoldenEntry.all.filter {
      $0.recordKeys == .always && $0.key.withBytes { $0.count } <= 2000
    }
    #expect(recorded == Set(expected.map(\.key)))
  }

  @Test func `keeps names, stamps and attributes through a manifest`() throws {
    for name in try Fixture.names {
      let fixture = try Fixture(name)
      #expect(fixture.lines.map { "\($0)\n" }.joined() == fixture.manifest)
      let names = fixture.lines.map { Array($0.name.utf8) }
      #expect(zip(names, names.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }
    #expect(throws: ManifestLine.Malformed.self) { try ManifestLine("name file 0600 1.5 -") }
    #expect(throws: ManifestLine.Malformed.self) { try ManifestLine("name pipe 0600 - -") }
    #expect(throws: ManifestLine.Malformed.self) { try ManifestLine("na\\me file 0600 - -") }
  }
}
