#if LARDER_SCHEDULES
  import Synchronization

  @testable import Larder
  @testable import LarderDisk
  @testable import LarderSystem

  /// What was stored and removed in a year, against which each value that is served is judged.
  ///
  /// A value is stale if something that began after its store had returned, a store, a removal of
  /// its key or of everything, had returned before the read began, by more than the lag that the
  /// reader is promised.
  final class YearTruth: Sendable {
    /// A change of a key, or of all keys.
    struct Change: Sendable {
      let begin: Int64
      /// The time of its return; nil before.
      var end: Int64?
    }

    fileprivate struct Version: Sendable {
      let key: Int
      let byteCount: Int
      let expiry: Timestamp
      /// The time at which its store returned; nil if it did not, or failed.
      var end: Int64?
    }

    struct Counts: Sendable {
      var accesses = 0
      var hits = 0
      var stores = 0
      var removals = 0
      var failures = 0
      var wrong = 0
      var stale = 0
    }

    fileprivate struct State {
      var versions: [Int: Version] = [:]
      /// The numbers of the values of each key, the latest last.
      var numbers: [Int: [Int]] = [:]
      var changes: [Int: [Change]] = [:]
      var clears: [Change] = []
      var last = 0
      var counts = Counts()
      var problems: [String] = []
    }

    private let state = Synchronization.Mutex(State())

    var counts: Counts { state.withLock { $0.counts } }
    var problems: [String] { state.withLock { $0.problems } }

    func report(_ problem: String) {
      state.withLock { if $0.problems.count < 20 { $0.problems.append(problem) } }
    }

    func countFailure() { state.withLock { $0.counts.failures += 1 } }

    /// Records that a store begins, and returns the number of its value.
    func beginStore(of key: Int, byteCount: Int, until expiry: Timestamp) -> Int {
      state.withLock { state in
        state.last += 1
        state.versions[state.last] = Version(key: key, byteCount: byteCount, expiry: expiry)
        state.numbers[key, default: []].append(state.last)
        state.counts.stores += 1
        return state.last
      }
    }

    /// Records that a store that began at a time has returned, and its value is there.
    func endStore(_ version: Int, began begin: Int64) {
      let now = Scheduler.now
      state.withLock { state in
        guard let key = state.versions[version]?.key else { return }
        state.versions[version]?.end = now
        state.add(Change(begin: begin, end: now), to: key)
      }
    }

    /// Records that a removal of a key, or of everything with nil, has returned.
    func endRemoval(of key: Int?, began begin: Int64) {
      let change = Change(begin: begin, end: Scheduler.now)
      state.withLock { state in
        state.counts.removals += 1
        guard let key else { return state.clears.append(change) }
        state.add(change, to: key)
      }
    }

    /// Records that the file of a value was removed from outside.
    func endRemoval(ofValue value: Int, began begin: Int64) {
      guard let key = state.withLock({ $0.versions[value]?.key }) else { return }
      endRemoval(of: key, began: begin)
    }

    /// Judges what a read has served.
    ///
    /// - Parameters:
    ///   - begin: The time at which the read began.
    ///   - wallTime: The time by the reader's clock.
    ///   - lag: The nanoseconds by which the reader may trail a change.
    func judge(
      _ bytes: [UInt8]?, of key: Int, began begin: Int64, at wallTime: Timestamp, lag: Int64
    ) {
      state.withLock { state in
        state.counts.accesses += 1
        guard let bytes else { return }
        state.counts.hits += 1
        guard let number = SceneValue.value(of: bytes), let version = state.versions[number],
          version.key == key, version.byteCount == bytes.count
        else {
          state.counts.wrong += 1
          return state.note("key \(key): \(bytes.count) bytes that nobody has stored")
        }
        if version.expiry <= wallTime {
          state.counts.stale += 1
          state.note("key \(key): value \(number) expired at \(version.expiry), now \(wallTime)")
        }
        guard let end = version.end else { return }
        let later = (state.changes[key, default: []] + state.clears).first { change in
          change.begin > end && change.end.map { $0 < begin - lag } ?? false
        }
        guard let later else { return }
        state.counts.stale += 1
        state.note(
          "key \(key): value \(number), stored until \(end), read from \(begin), but something "
            + "that began at \(later.begin) had returned at \(later.end ?? 0)")
      }
    }

    /// Forgets what no read of the next day can meet.
    func endDay() {
      state.withLock { state in
        state.clears = state.clears.suffix(4)
        for key in state.changes.keys { state.changes[key] = state.changes[key]?.suffix(16) }
        for (key, numbers) in state.numbers {
          for number in numbers.dropLast(16) { state.versions[number] = nil }
          state.numbers[key] = numbers.suffix(16)
        }
      }
    }
  }

  extension YearTruth.State {
    fileprivate mutating func add(_ change: YearTruth.Change, to key: Int) {
      changes[key, default: []].append(change)
      if changes[key, default: []].count > 64 { changes[key]?.removeFirst(32) }
    }

    fileprivate mutating func note(_ problem: String) {
      if problems.count < 20 { problems.append(problem) }
    }
  }
#endif
