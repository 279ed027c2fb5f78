public import Larder
public import LarderBasics
import LarderDisk
import LarderSystem
import Synchronization

extension Cache {
  /// Opens a cache on a copy of a fixture, at the fixture's time.
  ///
  /// Recorded values are served as from any cache. A load of any other value or file throws
  /// `FixtureMiss` without running; while the fixture records, the load runs once and its value is
  /// recorded. Other changes are made to the copy, which lasts until `close()` or the cache's end.
  ///
  /// A load that passes over a recorded value that is valid (`.reload`) gets that value, and one
  /// with `.memoryOnly` always. One of a value that has expired by the clock, or that the test
  /// removed, throws `FixtureMiss`. A value that its load did not let the cache keep (`.notKept`)
  /// is recorded as well, and each load of it gets it.
  ///
  /// - Parameters:
  ///   - fixture: The recorded values, and the clock.
  ///   - coder: The conversion of values to bytes and back.
  ///   - configuration: The settings. The clock is the fixture's, the mode `.shared`, and the
  ///     coherence `none`.
  /// - Throws: `CacheError`, as `init(directory:coder:configuration:)` does for the copy;
  ///   `.extendedDataUnsupported` if the temporary directory cannot hold recorded data.
  /// - Complexity: O(bytes of all entries), which are copied.
  public convenience init(
    fixture: Fixture, coder: Coder<Value>, configuration: CacheConfiguration = CacheConfiguration()
  ) throws(CacheError) {
    let (copy, names) = try fixture.copy()
    var configuration = configuration
    configuration.disk.clock = fixture.clock.wallClock
    // The copy is there. A store that is late must not make it again.
    configuration.disk.makesDirectory = false
    (configuration.disk.mode, configuration.disk.coherence) = (.shared, .none)
    try self.init(
      directory: copy.path, coder: coder, configuration: configuration,
      loadReplacement: FixtureUse(fixture: fixture, copy: copy, names: names))
  }

  /// Opens a cache on a copy of the fixture at a path, at the fixture's time.
  ///
  /// For a test that does not move the clock; see `Fixture` for the meaning of the path.
  ///
  /// - Throws: `CacheError`, as `Fixture.init` and `init(fixture:coder:configuration:)` do.
  /// - Complexity: O(bytes of all entries), which are copied.
  public convenience init(
    fixture path: String, coder: Coder<Value>,
    configuration: CacheConfiguration = CacheConfiguration(),
    relativeTo sourceFile: String = #filePath
  ) throws(CacheError) {
    try self.init(
      fixture: Fixture(path, relativeTo: sourceFile), coder: coder, configuration: configuration)
  }
}

/// The answers to the loads of a cache that was opened on a fixture.
private final class FixtureUse: LoadReplacement {
  private let fixture: Fixture
  /// The copy that the cache works on.
  private let copy: ScratchDirectory
  /// The entries that the copy was made with, and those that were loaded since.
  private let names: Mutex<Set<EntryName>>

  init(fixture: Fixture, copy: ScratchDirectory, names: Set<EntryName>) {
    (self.fixture, self.copy) = (fixture, copy)
    self.names = Mutex(names)
  }

  func close() { copy.remove() }

  func load<Value>(
    _ key: CacheKey, for cache: Cache<Value>, isMemoryOnly: Bool,
    _ load: @Sendable () async throws -> Loaded<Value>
  ) async throws -> Loaded<Value> {
    if let recorded = try await recorded(key, for: cache.disk, isMemoryOnly: isMemoryOnly) {
      do {
        return try loaded(recorded, cache.coder)
      } catch {
        throw miss(.undecodable("\(error)"), key, cache.disk)
      }
    }
    var recording: FixtureDirectory.Recording
    switch try await load() {
    case .value(let value, let expiration, let data):
      recording = .init(
        try cache.coder.encode(value),
        expiration: expiration ?? cache.disk.configuration.expiration)
      recording.extendedData = data
      if data.count > StoreRequest.maximumExtendedDataCount {
        // No cache can store it.
        (recording.extendedData, recording.expiration, recording.isKept) = ([], .expired, false)
      }
    // Expired from the beginning, so that each load of the key gets it and no read finds it.
    case .notKept(let value, _):
      recording = .init(try cache.coder.encode(value), expiration: .expired)
      recording.isKept = false
    case .notModified: throw Cache<Value>.nothingToKeep
    }
    return try loaded(
      await record(recording, key, for: cache.disk, isMemoryOnly: isMemoryOnly), cache.coder)
  }

  /// Returns the result of a load. Its value is decoded, so that each run gets the same one.
  private func loaded<Value>(
    _ recorded: FixtureDirectory.Recording, _ coder: Coder<Value>
  ) throws -> Loaded<Value> {
    let value = try coder.decode(recorded.value)
    guard recorded.isKept else { return .notKept(value) }
    return .value(value, expiration: recorded.expiration, extendedData: recorded.extendedData)
  }

  func loadFile<Value>(
    _ key: CacheKey, for cache: Cache<Value>, _ load: () async throws -> StoreOutcome
  ) async throws -> StoreOutcome {
    let disk = cache.disk
    let recording: FixtureDirectory.Recording
    if let recorded = try await recorded(key, for: disk) {
      recording = recorded
    } else {
      let outcome = try await load()
      guard let written = try await disk.read(forKey: key, extending: .off),
        let entry = try await disk.entry(forKey: key)
      else { return outcome }
      var own = FixtureDirectory.Recording(
        written.value, expiration: entry.lifetime ?? entry.expiry.map { .date($0) } ?? .never)
      own.extendedData = written.extendedData
      recording = try await record(own, key, for: disk)
      if recording.value == own.value && recording.extendedData == own.extendedData {
        return outcome
      }
    }
    return try await disk.store(
      recording.value, forKey: key, expiration: recording.expiration,
      extendedData: recording.extendedData)
  }

  /// Returns the recorded value of a key; nil if the load has to run and its value to be recorded.
  ///
  /// - Throws: `FixtureMiss` if there is neither.
  private func recorded(
    _ key: CacheKey, for disk: DiskCache, isMemoryOnly: Bool = false
  ) async throws -> FixtureDirectory.Recording? {
    try await disk.executor.run("value", answer, key, disk, isMemoryOnly).get()
  }

  private func answer(
    _ key: CacheKey, for disk: DiskCache, _ isMemoryOnly: Bool
  ) throws(CacheError) -> Result<FixtureDirectory.Recording?, FixtureMiss> {
    let name = disk.subject(key).name
    guard let recorded = try FixtureDirectory(fixture.path).value(of: name) else {
      return fixture.isRecording ? .success(nil) : .failure(miss(.unrecorded, key, disk))
    }
    // A value that another test has recorded since the copy was made counts as loaded.
    let isFirst = names.withLock { $0.insert(name).inserted }
    // One for memory alone has no file, and memory may have dropped it.
    if !recorded.isKept || isMemoryOnly { return .success(recorded) }
    let hasOutlived = fixture.hasOutlived(recorded.expiration)
    if isFirst { return hasOutlived ? .failure(miss(.expired, key, disk)) : .success(recorded) }
    // The copy had the value. As while recording, only passing over a valid one loads it again.
    guard let entry = try disk.entry(forKey: key, allowingExpired: true) else {
      let (rules, count) = (disk.configuration, recorded.value.count)
      let isKept =
        count <= rules.sizeLimit ?? .max && rules.sizeLimit != 0 && rules.countLimit != 0
        && rules.shouldStore?(key, count) != false
      let cause = hasOutlived ? FixtureMiss.Cause.expired : .removed
      return isKept ? .failure(miss(cause, key, disk)) : .success(recorded)
    }
    let hasExpired = entry.isExpired(at: fixture.clock.now)
    return hasExpired ? .failure(miss(.expired, key, disk)) : .success(recorded)
  }

  private func miss(
    _ cause: FixtureMiss.Cause, _ key: CacheKey, _ disk: DiskCache
  ) -> FixtureMiss {
    FixtureMiss(key: key, path: fixture.path, cause: cause, fileExtension: disk.fileExtension)
  }

  /// Records a value and returns what the fixture has for its key: this or another test's.
  ///
  /// - Throws: `FixtureMiss` if a run that replays would find it expired.
  private func record(
    _ recording: FixtureDirectory.Recording, _ key: CacheKey, for disk: DiskCache,
    isMemoryOnly: Bool = false
  ) async throws -> FixtureDirectory.Recording {
    var recording = recording
    recording.fileExtension = disk.fileExtension
    recording.recordsKey = disk.configuration.recordKeys != .never
    let name = disk.subject(key).name
    let recorded = try await disk.executor.run("record") {
      [fixture, recording] () throws(CacheError) in
      let recorded = try fixture.record(recording, forKey: key)
      _ = self.names.withLock { $0.insert(name) }
      return recorded
    }
    if isMemoryOnly || !fixture.hasOutlived(recorded.expiration) { return recorded }
    throw miss(.expired, key, disk)
  }
}
