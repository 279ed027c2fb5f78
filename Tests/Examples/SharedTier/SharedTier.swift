import Dispatch
import Larder
import Synchronization

/// A cache in a directory that all machines share, asked by the loader of each machine's own cache.
///
/// One process on all machines loads a key while the others wait, where locks on files exclude
/// other machines: on CephFS, MooseFS and GlusterFS. A call to the directory that has no answer
/// after 2 s leaves its key to the loader alone. While three such calls hang, nobody asks the
/// directory, and nobody does for a second after a call has failed.
final class SharedTier: Sendable {
  enum Source: String, Sendable { case shared, origin, originAlone }
  private enum Answer: Sendable { case found([UInt8]), mayLoad(KeyLock), busy }

  private let directory: String
  private let patience: Duration
  /// The life of a value in the shared directory. A change goes unseen for this and the local life.
  private let life = Expiration.seconds(3_600)
  private let disk = Mutex<DiskCache?>(nil)
  private let state = Mutex(State())

  private struct State {
    /// The time until which nobody asks, because a call has failed.
    var silence = ContinuousClock.now
    /// The time at which each call that runs is late, by its number.
    var calls: [Int: ContinuousClock.Instant] = [:]
    var last = 0

    /// Whether a call has to wait until another one has ended.
    var isFull: Bool { calls.count >= 16 && isOpen(at: .now) }

    private func isOpen(at now: ContinuousClock.Instant) -> Bool {
      now >= silence && calls.values.count { $0 <= now } < 3
    }

    /// Begins a call, unless too many hang or run.
    mutating func begin(_ patience: Duration) -> Int? {
      let now = ContinuousClock.now
      guard isOpen(at: now), calls.count < 16 else { return nil }
      last += 1
      calls[last] = now + patience
      return last
    }
  }

  private func opened() throws -> DiskCache {
    try disk.withLock { disk in
      let opened = try disk ?? DiskCache(directory: directory)
      disk = opened
      return opened
    }
  }

  /// - Parameter patience: The time that a call to the directory may take.
  init(directory: String, patience: Duration = .seconds(2)) {
    (self.directory, self.patience) = (directory, patience)
  }

  /// Returns the value of a key from the shared directory, or loads it and stores it there.
  func value(
    forKey key: String, load: @Sendable () async throws -> [UInt8]
  ) async throws -> ([UInt8], Source) {
    let end = ContinuousClock.now + patience * 15
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
      try withExtendedLifetime(lock) {
        _ = try disk.store(value, forKey: CacheKey(key), expiration: self.life)
      }
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
    let end = ContinuousClock.now + patience
    while state.withLock({ $0.isFull }), .now < end, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(5))
    }
    guard let number = state.withLock({ $0.begin(patience) }) else { return nil }
    let answers = AsyncStream<Answer> { answers in
      DispatchQueue.global().async {
        do {
          answers.yield(try call(self.opened()))
        } catch {
          self.state.withLock { $0.silence = .now + .seconds(1) }
        }
        answers.finish()
        _ = self.state.withLock { $0.calls.removeValue(forKey: number) }
      }
      let late = DispatchTime.now() + .milliseconds(Int(patience / .milliseconds(1)))
      DispatchQueue.global().asyncAfter(deadline: late) { answers.finish() }
    }
    for await answer in answers { return answer }
    return nil
  }
}
