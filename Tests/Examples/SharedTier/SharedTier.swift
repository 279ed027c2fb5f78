import Dispatch
import Larder
import Synchronization

/// A cache in a directory that all machines share, asked by the loader of each machine's own cache.
///
/// One process on all machines loads a key while the others wait, where locks on files exclude
/// other machines: on CephFS, MooseFS and GlusterFS. If the directory fails or does not answer
/// within 2 s, values come from the loaders alone, and for 10 s nobody asks the directory.
final class SharedTier: Sendable {
  enum Source: String, Sendable { case shared, origin, originAlone }
  private enum Answer: Sendable { case found([UInt8]), mayLoad(KeyLock), busy }

  private let directory: String
  private let disk = Mutex<DiskCache?>(nil)
  /// The time until which nobody asks, and the calls that run. Those may hang with the file system.
  private let state = Mutex((silence: ContinuousClock.now, calls: 0))

  private func opened() throws -> DiskCache {
    try disk.withLock { disk in
      let opened = try disk ?? DiskCache(directory: directory)
      disk = opened
      return opened
    }
  }

  init(directory: String) { self.directory = directory }

  /// Returns the value of a key from the shared directory, or loads it and stores it there.
  func value(
    forKey key: String, load: @Sendable () async throws -> [UInt8]
  ) async throws -> ([UInt8], Source) {
    let end = ContinuousClock.now + .seconds(30)
    var answer = await ask { disk in
      try disk.value(forKey: CacheKey(key)).map { .found($0) } ?? self.lock(key, disk)
    }
    while case .busy? = answer, ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(10))
      answer = await ask { try self.lock(key, $0) }
    }
    if case .found(let value)? = answer { return (value, .shared) }
    let value = try await load()
    guard case .mayLoad(let lock)? = answer else { return (value, .originAlone) }
    // The lock is held until other processes can find the value.
    _ = await ask { disk in
      try withExtendedLifetime(lock) { _ = try disk.store(value, forKey: CacheKey(key)) }
      return .found(value)
    }
    return (value, .origin)
  }

  /// Locks a key and looks again, because another process may have stored the value before that.
  private func lock(_ key: String, _ disk: DiskCache) throws -> Answer {
    guard let lock = try KeyLock(key, in: directory + ".locks") else { return .busy }
    return try disk.value(forKey: CacheKey(key)).map { .found($0) } ?? .mayLoad(lock)
  }

  /// Runs a call on a thread that may hang. Returns nil if the call fails or takes too long.
  private func ask(_ call: @escaping @Sendable (DiskCache) throws -> Answer) async -> Answer? {
    let mayAsk = state.withLock { state in
      guard ContinuousClock.now >= state.silence, state.calls < 16 else { return false }
      state.calls += 1
      return true
    }
    guard mayAsk else { return nil }
    let answers = AsyncStream<Answer> { answers in
      DispatchQueue.global().async {
        do { answers.yield(try call(self.opened())) } catch { answers.finish() }
        self.state.withLock { $0.calls -= 1 }
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + 2) { answers.finish() }
    }
    for await answer in answers { return answer }
    state.withLock { $0.silence = .now + .seconds(10) }
    return nil
  }
}
