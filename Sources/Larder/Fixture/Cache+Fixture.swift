extension Cache {
  /// Opens a cache on a copy of a fixture, at the fixture's time.
  ///
  /// What was recorded is served as from any cache. A load through `value(forKey:orStore:)` of
  /// anything else throws `FixtureMiss` without running; while the fixture records, it runs once
  /// and its value is recorded. Everything else that is done to the cache is done to the copy,
  /// which lasts until `close()` or the end of the cache.
  ///
  /// - Parameters:
  ///   - fixture: What was recorded, and the time.
  ///   - coder: How values become bytes.
  ///   - configuration: Its clock is the fixture's, whatever stands there.
  /// - Throws: `CacheError`, as `init(directory:coder:configuration:)` does for the copy;
  ///   `.extendedDataUnsupported` where the temporary directory cannot hold recorded data.
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
      fixture: FixtureUse(fixture: fixture, copy: copy, names: names))
  }

  /// Opens a cache on a copy of the fixture at a path, at the fixture's time.
  ///
  /// For a test that does not move the clock; see `Fixture` for what the path means.
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

  /// Does what a load does in a test: records the value if the fixture lacks it and may, and else
  /// refuses. What another test has recorded since the copy was made is taken as loaded.
  func loadForFixture(
    _ use: FixtureUse, _ key: CacheKey, _ expiration: Expiration?,
    _ load: @Sendable () async throws -> Value
  ) async throws -> Value {
    let name = disk.subject(key).name
    let isRecorded = use.names.contains(name)
    let executor = disk.executor
    let fixture = use.fixture
    var bytes: [UInt8]?
    if !isRecorded {
      bytes = try await executor.run("value") { () throws(CacheError) in
        try fixture.value(of: name)
      }
    }
    if bytes == nil {
      guard fixture.isRecording, !isRecorded else {
        throw FixtureMiss(
          key: key, path: fixture.path, isRecorded: isRecorded, fileExtension: disk.fileExtension)
      }
      var recording = FixtureDirectory.Recording(
        try coder.encode(try await load()),
        expiration: expiration ?? configuration.disk.expiration)
      recording.fileExtension = disk.fileExtension
      bytes = try await executor.run("record") { [recording] () throws(CacheError) in
        try fixture.record(recording, forKey: key)
      }
    }
    // Decoded also when it was loaded just now: the next run gets no other value.
    let value = try coder.decode(bytes ?? [])
    // Into the copy as well, so that the rest of the test finds it.
    _ = try await store(value, forKey: key, expiration: expiration)
    return value
  }
}

/// What ties a cache to the fixture that it was opened on.
final class FixtureUse: Sendable {
  let fixture: Fixture
  /// Removed with the last who holds it.
  let copy: ScratchDirectory
  /// The entries that the copy was made with.
  let names: Set<EntryName>

  init(fixture: Fixture, copy: ScratchDirectory, names: Set<EntryName>) {
    self.fixture = fixture
    self.copy = copy
    self.names = names
  }
}
