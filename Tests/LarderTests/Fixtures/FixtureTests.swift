import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(
  .enabled("no attributes or stamps of 2242 under the temporary folder") {
    FileSystemFeatures.hasAttributes && FileSystemFeatures.holdsNever
  })
final class `A golden directory` {
  /// A time a little after the fixtures were written.
  static let now = Timestamp(seconds: 1_800_000_050)
  /// The rebuilt directories, kept until the test ends.
  private var directories: [TemporaryDirectory] = []
}

extension `A golden directory` {
  private func open(_ directory: TemporaryDirectory, _ mode: DiskCache.Mode) throws -> DiskCache {
    var configuration = DiskCache.Configuration()
    configuration.mode = mode
    configuration.clock = ManualClock(Self.now).wallClock
    return try DiskCache(directory: directory.path, configuration: configuration)
  }

  private func rebuilt(_ name: String) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    directories.append(directory)
    try Fixture(name).build(in: directory)
    return directory
  }

  @Test(arguments: try Fixture.names)
  func `is rebuilt as its manifest says`(name: String) throws {
    let directory = try rebuilt(name)
    #expect(try DirectoryRecord(directory.path).manifest == Fixture(name).manifest)
  }

  @Test(arguments: FixtureExpectation.all)
  func `answers every key as the format says`(expected: FixtureExpectation) throws {
    let directory = try rebuilt(expected.fixture)
    #expect(try answer(expected.key, open(directory, .shared)) == expected.answer)
    #expect(try answer(expected.key, open(rebuilt(expected.fixture), .readOnly)) == expected.answer)
    #expect(
      try answer(expected.key, open(rebuilt(expected.fixture), .fixture))
        == expected.answerAsFixture)
  }

  /// Reads a key, and checks that the counters show the same hit or miss.
  private func answer(
    _ key: CacheKey, _ cache: DiskCache
  ) throws -> FixtureExpectation.Answer {
    let value = try cache.value(forKey: key)
    let misses = cache.statistics.misses
    #expect(cache.statistics.hits == (value == nil ? 0 : 1))
    #expect(misses.values.reduce(0, +) == (value == nil ? 1 : 0))
    if let value { return .value(value) }
    return .miss(try #require(misses.keys.first))
  }

  @Test(arguments: FixtureExpectation.all)
  func `is said to contain what a read would find, as far as that shows without its content`(
    expected: FixtureExpectation
  ) throws {
    for mode in [DiskCache.Mode.readOnly, .fixture] {
      let cache = try open(rebuilt(expected.fixture), mode)
      let answer = mode == .fixture ? expected.answerAsFixture : expected.answer
      switch answer {
      case .value: #expect(try cache.contains(expected.key))
      case .miss(.damaged): break
      case .miss: #expect(try !cache.contains(expected.key))
      }
    }
  }

  @Test(arguments: try Fixture.names, [DiskCache.Mode.readOnly, .fixture])
  func `stays as it is when it is only read`(name: String, mode: DiskCache.Mode) throws {
    let directory = try rebuilt(name)
    let cache = try open(directory, mode)
    for line in try Fixture(name).lines { _ = try? cache.value(forKey: line.name) }
    for expected in FixtureExpectation.all where expected.fixture == name {
      _ = try cache.value(forKey: expected.key)
    }
    _ = try (cache.entries(), cache.survey(), cache.totalSize(), cache.verify())
    try cache.close()
    #expect(try DirectoryRecord(directory.path).manifest == Fixture(name).manifest)
  }

  /// The entries, bytes, foreign things and temporaries of each fixture.
  static let surveys = [
    ("attributes", 30, 150, 0, 0), ("basic", 10, 425, 0, 0), ("clamped-never", 6, 30, 0, 0),
    ("empty", 0, 0, 0, 0), ("foreign", 1, 5, 17, 0), ("leftovers", 1, 5, 0, 3),
    ("never", 4, 20, 0, 0), ("truncated", 6, 12, 0, 0),
  ]

  @Test(arguments: surveys)
  func `counts what the format counts`(
    name: String, entries: Int, bytes: Int, foreign: Int, temporaries: Int
  ) throws {
    let cache = try open(rebuilt(name), .readOnly)
    let survey = try cache.survey()
    #expect(survey.entryCount == entries)
    #expect(survey.byteCount == bytes)
    #expect(survey.foreignCount == foreign)
    #expect(survey.temporaryCount == temporaries)
    #expect(try cache.count() == entries)
    #expect(try cache.totalSize() == bytes)
    #expect(try cache.entries().count == entries)
    #expect(cache.statistics.foreignCount == foreign)
  }

  @Test func `tells never from the last finite expiries`() throws {
    let ends = [
      ("never", "never", true), ("never", "later than never", true), ("never", "bare never", true),
      ("never", "just before never", false), ("clamped-never", "31 bits", true),
      ("clamped-never", "32 bits", true), ("clamped-never", "31 bits and 1 ns", false),
      ("clamped-never", "32 bits and 1 ns", false), ("clamped-never", "1 s before 31 bits", false),
      ("clamped-never", "bare 31 bits", true),
    ]
    for (fixture, key, isNever) in ends {
      let entry = try open(rebuilt(fixture), .readOnly).entry(forKey: key)
      #expect((try #require(entry).expiry == nil) == isNever, "\(key)")
    }
  }

  @Test func `loses only what is damaged when it is read`() throws {
    for name in ["truncated", "attributes"] {
      let directory = try rebuilt(name)
      let cache = try open(directory, .shared)
      let expectations = FixtureExpectation.all.filter { $0.fixture == name }
      for expected in expectations { _ = try cache.value(forKey: expected.key) }
      try cache.flush()
      let kept = expectations.filter { $0.answer != .miss(.damaged) }
      let names = kept.map { String(cache.path(forKey: $0.key).suffix(32)) }
      #expect(try directory.names == names.sorted())
      #expect(cache.statistics.removals[.corrupt] == expectations.count - kept.count)
    }
  }

  @Test func `keeps foreign things through removeAll, and they cost no total`() throws {
    let directory = try rebuilt("foreign")
    let cache = try open(directory, .shared)
    #expect(try !cache.remove(forKey: "fifo"))
    #expect(try !cache.remove(forKey: "directory"))
    #expect(try cache.removeAll().removed == 1)
    try cache.close()
    let own = "900150983cd24fb0d6963f7d28e17f72"
    let kept = try Fixture("foreign").lines.filter { $0.name != own }
    #expect(try DirectoryRecord(directory.path).lines == kept)
  }

  @Test func `lets a store replace a foreign thing of its name, but never a directory`() throws {
    let cache = try open(rebuilt("foreign"), .shared)
    for key in ["link", "fifo", "socket"] {
      #expect(try cache.store([1], forKey: key) == .stored)
      #expect(try cache.value(forKey: key) == [1])
    }
    #expect(try cache.value(forKey: "abc") == Array("hello".utf8))
    let error = #expect(throws: CacheError.self) { try cache.store([1], forKey: "directory") }
    #expect(error?.code == .nameOccupied)
  }

  @Test func `loses temporaries that nobody holds, and no others`() throws {
    let directory = try rebuilt("leftovers")
    let handle = try DirectoryHandle.open(path: directory.path, faults: nil)
    let held = try handle.openForReading(FileName(text: ".larder-4711-2"))
    #expect(try held.tryLock(.exclusive))
    let cache = try open(directory, .shared)
    #expect(try cache.count() == 1)
    try cache.flush()
    #expect(try directory.names == [".larder-4711-2", "900150983cd24fb0d6963f7d28e17f72"])
    try held.unlock()
  }

  @Test func `serves nothing without proof where proof is required`() throws {
    var configuration = DiskCache.Configuration()
    configuration.mode = .fixture
    configuration.requireProof = true
    let directory = try rebuilt("attributes")
    let cache = try DiskCache(directory: directory.path, configuration: configuration)
    for (key, isProven) in [
      ("abc", true), ("right digest", true), ("digest and end", true),
      ("wrong end", true), ("unknown key", false), ("no attribute", false),
      ("strange proof", false), ("other key", false),
    ] {
      #expect(try (cache.value(forKey: key) != nil) == isProven, "\(key)")
      #expect(try cache.contains(key) == isProven, "\(key)")
    }
  }
}
