public import Larder
public import LarderBasics
import LarderDisk
import LarderSystem

extension Cache {
  /// Opens a cache on a copy of a fixture, at the fixture's time.
  ///
  /// Recorded values are served as from any cache. A load of any other value through
  /// `value(forKey:orStore:)` throws `FixtureMiss` without running; while the fixture records, the
  /// load runs once and its value is recorded. All other changes are made to the copy, which lasts
  /// until `close()` or the end of the cache.
  ///
  /// - Parameters:
  ///   - fixture: The recorded values, and the clock.
  ///   - coder: The conversion of values to bytes and back.
  ///   - configuration: The settings. Their clock is replaced by the fixture's.
  /// - Throws: `CacheError`, as `init(directory:coder:configuration:)` does for the copy;
  ///   `.extendedDataUnsupported` if the temporary directory cannot hold recorded data.
  /// - Complexity: O(bytes of all entries), which are copied.
  public convenience init(
    fixture: Fixture, coder: Coder<Value>, configuration: CacheConfiguration = CacheConfiguration()
  ) throws(CacheError) {
    let (copy, names) = try fixture.copy()
    var configuration = configuration
    configuration.disk.clock = fixture.clock.wallClock
    configuration.disk.mode = .shared
    try self.init(
      directory: copy.path, coder: coder, configuration: configuration,
      loadReplacement: FixtureUse(fixture: fixture, copy: copy, names: names))
  }

  /// Opens a cache on a copy of the fixture at a path, at the fixture's time.
  ///
  /// For a test that does not move the clock; see `Fixture` for the meaning of the path.
  ///
  /// - Throws: `CacheError`, as `Fixture.init(_:isRecording:relativeTo:)` and
  ///   `init(fixture:coder:configuration:)` do.
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
private struct FixtureUse: LoadReplacement {
  let fixture: Fixture
  /// The copy that the cache works on.
  let copy: ScratchDirectory
  /// The entries that the copy was made with.
  let names: Set<EntryName>

  func close() { copy.remove() }

  /// Records the value if the fixture lacks it and records; otherwise throws `FixtureMiss`. A value
  /// that another test has recorded since the copy was made counts as loaded.
  func load<Value>(
    _ key: CacheKey, for cache: Cache<Value>, expiration: Expiration?,
    _ load: @Sendable () async throws -> Loaded<Value>
  ) async throws -> Value {
    let disk = cache.disk
    let name = disk.subject(key).name
    let isRecorded = names.contains(name)
    var recorded: RecordedValue?
    var expiration = expiration
    if !isRecorded {
      recorded = try await disk.executor.run("value") { [fixture] () throws(CacheError) in
        try fixture.value(of: name)
      }
    }
    if recorded == nil {
      guard fixture.isRecording, !isRecorded else {
        throw FixtureMiss(
          key: key, path: fixture.path, isRecorded: isRecorded, fileExtension: disk.fileExtension)
      }
      let value: Value
      let data: [UInt8]
      switch try await load() {
      case .value(let new, let time, let beside): (value, expiration, data) = (new, time, beside)
      // Not recorded, because a cache would not keep it either; the next run loads it again.
      case .notKept(let value, _): return value
      case .notModified: throw Cache<Value>.nothingToKeep
      }
      recorded = try await record(value, expiration, data, key, for: cache)
    }
    // Decoded even if it was just loaded, so that the next run gets the same value.
    let value = try cache.coder.decode(recorded?.bytes ?? [])
    // Stored in the copy as well, so that the rest of the test finds it.
    _ = try await cache.store(
      value, forKey: key, expiration: expiration, extendedData: recorded?.extendedData ?? [])
    return value
  }

  /// Records a loaded value and returns what the fixture has for its key.
  private func record<Value>(
    _ value: Value, _ expiration: Expiration?, _ extendedData: [UInt8], _ key: CacheKey,
    for cache: Cache<Value>
  ) async throws -> RecordedValue {
    var recording = FixtureDirectory.Recording(
      try cache.coder.encode(value),
      expiration: expiration ?? cache.configuration.disk.expiration)
    recording.extendedData = extendedData
    recording.fileExtension = cache.disk.fileExtension
    return try await cache.disk.executor.run("record") {
      [fixture, recording] () throws(CacheError) in
      try fixture.record(recording, forKey: key)
    }
  }
}
