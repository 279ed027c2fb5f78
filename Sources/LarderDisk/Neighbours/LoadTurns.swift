import LarderBasics
import LarderDigest
import LarderSystem
import Synchronization

/// A load's turn among processes: a lock on two bytes of CACHEDIR.TAG. It ends with the process.
///
/// 1. A load asks the table of its process (`TurnTable`), then the kernel, then looks for the value
///    once more. If it has the turn, and there is no value, it loads.
/// 2. If it is refused, it waits for an event: of the name, which comes with the value, or of the
///    tag, with which a turn ends that brought none. Without events it asks again and again.
/// 3. The turn ends when the value is published. If none was, a shared lock on the second byte is
///    left for a second, in which all load at once.
final class LoadTurn: Sendable {
  private let name: EntryName
  private let byte: UInt64
  private let tag: LockableTag
  private let isOver = Atomic<Bool>(false)

  private init(_ name: EntryName, _ byte: UInt64, in tag: LockableTag) {
    (self.name, self.byte, self.tag) = (name, byte, tag)
  }

  /// Returns the first byte of a name: twice 61 bits of its digest and extension, by FNV-1a. Names
  /// with the same share the turn.
  static func byte(of name: EntryName) -> UInt64 {
    2
      * name.fileExtension.bytes.reduce(name.digest.high >> 3) {
        (($0 ^ UInt64($1)) &* 0x100_0000_01b3) >> 3
      }
  }

  /// Asks for a turn. Without one, the load waits if it is refused, and else loads alone.
  fileprivate static func take(
    of name: EntryName, _ byte: UInt64, in engine: DiskEngine
  ) -> (LoadTurn?, isRefused: Bool) {
    var answer = engine.turns.withLock { $0.claim(byte) }
    guard answer == .granted else { return (nil, answer == .refused) }
    var turn: LoadTurn?
    answer = .alone
    do throws(Errno) {
      let tag = try engine.lockableTag()
      if try tag.file.setLock(.exclusive, bytes: byte, 2) {
        (answer, turn) = (.granted, LoadTurn(name, byte, in: tag))
      } else if try tag.file.lock(in: byte + 1..<byte + 2)?.isShared != true {
        answer = .refused
      }
    } catch {
      engine.noteUpkeepFailure(error)
    }
    engine.resume(engine.turns.withLock { [answer] in $0.settle(byte, answer) })
    return (turn, answer == .refused)
  }

  /// Runs a load and ends the turn, also when it is cancelled, because it may hang then.
  fileprivate static func hold<Result: Sendable>(
    _ turn: LoadTurn?, in engine: DiskEngine, _ load: () async throws -> Result
  ) async throws -> Result {
    defer { turn?.end(in: engine, isCancelled: Task.isCancelled) }
    return try await withTaskCancellationHandler(operation: load) {
      turn?.end(in: engine, isCancelled: true)
    }
  }

  private func end(in engine: DiskEngine, isCancelled: Bool) {
    guard !engine.isForked, !isOver.exchange(true, ordering: .relaxed) else { return }
    let unlock: Job = { self.unlock(in: engine, isCancelled: isCancelled) }
    // A cancellation waits for nothing. Else the kernel knows the name, and waits for no device.
    if isCancelled || engine.isOnNetwork { engine.runAside(unlock) } else { unlock() }
  }

  private func unlock(in engine: DiskEngine, isCancelled: Bool) {
    // Not by the index: another process or a person may have removed the value since.
    let found = engine.upkeep(try tag.handle.statusIfPresent(of: name.fileName)) ?? nil
    let isStored = found.map { engine.missReason(for: $0, of: name, at: engine.now) } == .some(nil)
    let isMarked =
      !isStored && !isCancelled && engine.turns.withLock { $0.mayMark }
      && engine.upkeep(try tag.file.setLock(.shared, bytes: byte + 1, 1)) == true
    // Before another process can take the turn: a change from then on counts.
    engine.turns.withLock { $0.overtaken[byte] = nil }
    release(byte, isMarked ? 1 : 2, in: engine)
    engine.resume(engine.turns.withLock { $0.end(byte, isMarked: isMarked) }, looks: true)
    // Closing it brings an event to all that watch.
    if !isStored { engine.upkeep(try LockableTag(in: tag.handle)) }
    if isMarked { engine.runLater(after: .seconds(1)) { self.release(self.byte + 1, 1, in: $0) } }
  }

  private func release(_ start: UInt64, _ count: Int, in engine: DiskEngine) {
    // Else closing the file ends the lock, once no turn needs it any more.
    if engine.upkeep(try tag.file.setLock(nil, bytes: start, count)) == nil {
      _ = engine.turns.withLock { exchange(&$0.tag, with: nil) }
    }
    _ = engine.turns.withLock { $0.marked.remove(byte) }
  }
}

/// The tag of a directory, open for locks.
final class LockableTag: Sendable {
  let file: FileDescriptor
  let handle: DirectoryHandle

  init(in handle: DirectoryHandle) throws(Errno) {
    file = try handle.openForWriting(DirectoryMaking.tagName)
    self.handle = handle
  }
}

/// The turns of a process and its loads that wait, as a value. It is asked before the kernel, which
/// takes a process for one owner and grants it a byte twice.
struct TurnTable<Waiter: Sendable>: Sendable {
  enum Answer: Sendable {
    case granted, refused
    /// The load neither takes a turn nor waits.
    case alone
  }

  /// The most turns of a process, because the kernel goes through the locks of a file one by one.
  /// Half as many are the most marks, and loads that wait without events.
  static var limit: Int { 128 }

  var tag: LockableTag?
  /// The bytes whose turns this process has, or asks the kernel for.
  private(set) var taken: Set<UInt64> = []
  /// Those whose second byte it has locked.
  var marked: Set<UInt64> = []
  /// Those that it has changed during a load, until when that counts.
  var overtaken: [UInt64: MonotonicTime] = [:]
  private var trimCount = 1_024
  /// Until when loads wait for those that were refused.
  var bounds: [UInt64: MonotonicTime] = [:]
  private var waiting: [UInt64: [Waiter]] = [:]
  /// The numbers of wakes, each of some bytes, which show a load that one came before it waits.
  private var wakeCounts = Array(repeating: 0, count: 64)
  /// The milliseconds before the last tick.
  private var pause = 0
  private var isTickPlanned = false

  var isAwaited: Bool { !waiting.isEmpty }
  var mayMark: Bool { marked.count < Self.limit / 2 }

  /// Asks for a turn. If it is granted, the kernel is asked, and its answer settled.
  mutating func claim(_ byte: UInt64) -> Answer {
    if taken.contains(byte) { return .refused }
    guard !marked.contains(byte), taken.count < Self.limit else { return .alone }
    taken.insert(byte)
    return .granted
  }

  /// Takes the kernel's answer, and returns the loads to resume.
  mutating func settle(_ byte: UInt64, _ answer: Answer) -> [Waiter] {
    if answer != .refused { bounds[byte] = nil }
    if answer == .granted { overtaken[byte] = nil } else { taken.remove(byte) }
    return answer == .alone ? wake(byte) : []
  }

  /// Whether a load may wait for the turn of another. All that ask have one bound, until for the
  /// longest wait none has asked, so that callers do not wait again and again for one that hangs.
  mutating func mayWait(
    for byte: UInt64, _ isPolled: Bool, _ now: MonotonicTime, atMost longest: Duration
  ) -> Bool {
    if let end = overtaken[byte], now < end {
      overtaken[byte] = now.advanced(by: longest)
      return false
    }
    if isPolled && waiting.count >= Self.limit / 2 { return false }
    trim(at: now)
    if let bound = bounds[byte], now < bound.advanced(by: longest) {
      bounds[byte] = max(bound, now)
      return now < bound
    }
    bounds[byte] = now.advanced(by: longest)
    return true
  }

  /// Lets a load wait; returns false if there were wakes since it asked.
  mutating func wait(for byte: UInt64, since count: Int, _ waiter: Waiter) -> Bool {
    guard count == wakeCount(of: byte) else { return false }
    waiting[byte, default: []].append(waiter)
    return true
  }

  /// Wakes the loads that wait for a byte, or all with nil, and returns them.
  mutating func wake(_ byte: UInt64?) -> [Waiter] {
    guard let byte else {
      for place in wakeCounts.indices { wakeCounts[place] += 1 }
      return exchange(&waiting, with: [:]).values.flatMap(\.self)
    }
    wakeCounts[Int(byte / 2 % 64)] += 1
    return waiting.removeValue(forKey: byte) ?? []
  }

  func wakeCount(of byte: UInt64) -> Int { wakeCounts[Int(byte / 2 % 64)] }

  /// Ends a turn whose lock has ended.
  mutating func end(_ byte: UInt64, isMarked: Bool) -> [Waiter] {
    taken.remove(byte)
    if isMarked { marked.insert(byte) }
    return wake(byte)
  }

  /// Lets no load of some bytes wait for those that are running.
  mutating func overtake(
    _ bytes: [UInt64], _ now: MonotonicTime, atMost longest: Duration
  ) -> [Waiter] {
    trim(at: now)
    for byte in bytes { overtaken[byte] = now.advanced(by: longest) }
    return bytes.flatMap { wake($0) }
  }

  /// Forgets what has passed, when there is twice as much as the last time.
  private mutating func trim(at now: MonotonicTime) {
    guard bounds.count + overtaken.count >= trimCount else { return }
    bounds = bounds.filter { now < $0.value }
    overtaken = overtaken.filter { now < $0.value }
    trimCount = max(1_024, 2 * (bounds.count + overtaken.count))
  }

  /// Plans the tick that wakes all; returns nil if it is planned. The pause grows while loads wait,
  /// and begins anew with one that waits for the first time.
  mutating func planTick(_ pauses: ClosedRange<Int>, isFirst: Bool) -> Int? {
    if exchange(&isTickPlanned, with: true) { return nil }
    pause = min(max(isFirst ? 0 : pause * 2, pauses.lowerBound), pauses.upperBound)
    return pause
  }

  mutating func tick() -> [Waiter] {
    isTickPlanned = false
    return wake(nil)
  }
}

extension DiskCache {
  /// Looks for a value and, if there is none, loads it when no other process does so. `mayWait` is
  /// asked before each wait. `count` is called before the first one and before a load alone.
  package func inTurn<Result: Sendable>(
    _ name: EntryName, mayWait: () -> Bool, look: () async throws -> Result?,
    load: () async throws -> Result, count: (_ isAlone: Bool) -> Void
  ) async throws -> Result {
    let (engine, byte, start) = (engine, LoadTurn.byte(of: name), MonotonicTime.now)
    let longest = engine.configuration.longestTurn
    if followsNeighbours, engine.watching.advance(to: .planned) {
      engine.runAside { engine.startWatching() }
    }
    var (looks, waited) = (false, Int?.none)
    while true {
      let wakeCount = engine.turns.withLock { $0.wakeCount(of: byte) }
      // Not if nothing but the tick has come since the last look, where events are complete.
      looks = looks || waited.map { wakeCount - 1 != $0 || !engine.hasEvents } == true
      if looks, let found = try await look() {
        engine.turns.withLock { $0.bounds[byte] = nil }
        return found
      }
      let (turn, isRefused) = try await takeTurn(of: name, byte)
      guard isRefused, mayWait(), .now < start.advanced(by: longest),
        engine.turns.withLock({ $0.mayWait(for: byte, !engine.hasEvents, .now, atMost: longest) })
      else {
        defer { if isRefused { engine.forgetBound(byte) } }
        return try await LoadTurn.hold(turn, in: engine) {
          if let found = try await look() { return found }
          if turn == nil { count(true) }
          try Task.checkCancellation()
          return try await load()
        }
      }
      // Looks first at what was published since the caller's look, of which no event will come.
      if waited == nil, !exchange(&looks, with: true) { continue }
      if waited == nil { count(false) }
      looks = await engine.waitForTurn(of: byte, since: wakeCount, isFirst: waited == nil)
      waited = wakeCount
      try Task.checkCancellation()
    }
  }

  private func takeTurn(of name: EntryName, _ byte: UInt64) async throws -> (LoadTurn?, Bool) {
    // A network's lock can take long, and the threads of Swift's pool must not wait.
    guard engine.isOnNetwork else { return LoadTurn.take(of: name, byte, in: engine) }
    return try await executor.run("value") { [engine] in
      LoadTurn.take(of: name, byte, in: engine)
    }
  }
}

extension DiskEngine {
  /// Whether loads are shared, from the first on, or from `shareLoads()` on.
  package var sharesLoads: Bool { turns.withLock { $0.tag != nil } }
  package func shareLoads() { if configuration.mode == .shared { _ = upkeep(try lockableTag()) } }

  /// Returns the directory's tag, opened again if that is another file now.
  fileprivate func lockableTag() throws(Errno) -> LockableTag {
    let handle = location.handle
    let known = turns.withLock { $0.tag }
    do throws(Errno) {
      if let known, known.handle === handle, try known.file.status().linkCount > 0 { return known }
    } catch .staleHandle {}
    let tag = try LockableTag(in: handle)
    _ = turns.withLock { exchange(&$0.tag, with: tag) }
    return tag
  }

  /// Lets loads wait again if the turn that was waited for too long is over.
  fileprivate func forgetBound(_ byte: UInt64) {
    guard !isOnNetwork, let tag = turns.withLock({ $0.taken.contains(byte) ? nil : $0.tag }),
      case .some(nil) = upkeep(try tag.file.lock(in: byte..<byte + 1))
    else { return }
    turns.withLock { $0.bounds[byte] = nil }
  }

  /// Waits for another load's turn. Returns whether there may be a value.
  fileprivate func waitForTurn(of byte: UInt64, since wakeCount: Int, isFirst: Bool) async -> Bool {
    await withCheckedContinuation { waiter in
      guard turns.withLock({ $0.wait(for: byte, since: wakeCount, waiter) }) else {
        return waiter.resume(returning: true)
      }
      let pauses = hasEvents ? 20...2_000 : isOnNetwork ? 1...250 : 1...25
      guard let pause = turns.withLock({ $0.planTick(pauses, isFirst: isFirst) }) else { return }
      runLater(after: .milliseconds(pause)) { $0.resume($0.turns.withLock { $0.tick() }) }
    }
  }

  fileprivate func resume(_ waiters: [CheckedContinuation<Bool, Never>], looks: Bool = false) {
    for waiter in waiters { waiter.resume(returning: looks) }
  }

  /// Wakes the loads that wait for what events tell of.
  func wakeTurns(for batch: EventBatch) {
    guard sharesLoads else { return }
    let bytes = batch.names.keys.map(LoadTurn.byte)
    resume(turns.withLock { table in bytes.flatMap { table.wake($0) } }, looks: true)
    let isOfAny = batch.isIncomplete || batch.concernsDirectory
    guard isOfAny || batch.concernsTag else { return }
    // The event of a killed process can come before the end of its locks.
    if turns.withLock({ $0.isAwaited }) {
      runLater(after: .milliseconds(20)) { $0.wakeTurns(looks: false) }
    }
    wakeTurns(looks: isOfAny)
  }

  /// Wakes all loads that wait.
  func wakeTurns(looks: Bool) { resume(turns.withLock { $0.wake(nil) }, looks: looks) }

  /// Lets no load of a name, or of any, wait for one that began before a change by this process.
  package func overtake(_ name: EntryName?) {
    guard sharesLoads else { return }
    let (only, taken) = (name.map(LoadTurn.byte), turns.withLock { $0.taken })
    // Nothing is asked of a network's server, which may not answer while the name is held.
    var bytes = only.map { isOnNetwork || taken.contains($0) ? [$0] : [] } ?? Array(taken)
    var ranges: [Range<UInt64>] = only.map { bytes.isEmpty ? [$0..<$0 + 1] : [] } ?? [0..<1 << 62]
    while let range = ranges.popLast() {
      guard let lock = upkeep(try lockableTag().file.lock(in: range)) ?? nil else { continue }
      let (start, end) = (lock.bytes.lowerBound, lock.bytes.upperBound)
      // Another program may have locked them all.
      if !lock.isShared { bytes += stride(from: start & ~1, to: end, by: 2).prefix(1_024) }
      ranges += [range.lowerBound..<start, end..<range.upperBound].filter { !$0.isEmpty }
    }
    let longest = configuration.longestTurn
    resume(turns.withLock { [bytes] in $0.overtake(bytes, .now, atMost: longest) })
  }
}
