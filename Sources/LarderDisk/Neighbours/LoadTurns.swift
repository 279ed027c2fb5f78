import LarderBasics
import LarderDigest
import LarderSystem
import Synchronization

/// The turn of a load among processes: a lock on a byte of the directory's tag, which the kernel
/// ends with the process.
///
/// 1. A load asks the table of its process (`TurnTable`), then the kernel, then looks for the value
///    once more. If it has the turn, and there is no value, it loads.
/// 2. If it is refused, it waits for an event: of the name, which comes with the value, or of the
///    tag, with which a turn ends that brought none. Without events it asks again and again.
/// 3. The turn ends when the value is published. If none was, the next byte is locked for a second,
///    in which all load at once.
final class LoadTurn: Sendable {
  let byte: UInt64
  let tag: LockableTag
  let isOver = Atomic<Bool>(false)

  init(_ byte: UInt64, in tag: LockableTag) { (self.byte, self.tag) = (byte, tag) }

  /// Returns the byte of a name, twice 61 bits of its digest. Names with the same share the turn.
  static func byte(of name: EntryName) -> UInt64 { (name.digest.high &>> 3) * 2 }
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

private enum TurnEnding { case published, notKept, cancelled }

/// The turns of a process and its loads that wait, as a value. It is asked before the kernel, which
/// takes a process for one owner and grants it a byte twice.
struct TurnTable<Waiter: Sendable>: Sendable {
  enum Answer: Sendable {
    case granted, refused
    /// The load neither takes a turn nor waits.
    case alone
  }

  /// The most locks of a process, because the kernel goes through those of a file one by one.
  static var lockLimit: Int { 128 }

  var tag: LockableTag?
  /// The bytes whose turns this process has, or asks the kernel for.
  private var taken: Set<UInt64> = []
  /// Those of which it has locked the next byte.
  var marked: Set<UInt64> = []
  /// Those that it has changed while another process loads, until when that counts; nil for all.
  private var overtaken: [UInt64?: MonotonicTime] = [:]
  private var waiting: [UInt64: [Waiter]] = [:]
  /// The number of wakes, which shows a load that one came before it waits.
  private(set) var wakeCount = 0
  /// The milliseconds before the last tick.
  private var pause = 0
  private var isTickPlanned = false

  var isAwaited: Bool { !waiting.isEmpty }

  /// Asks for a turn. If it is granted, the kernel is asked, and its answer settled.
  mutating func claim(_ byte: UInt64) -> Answer {
    if taken.contains(byte) { return .refused }
    guard !marked.contains(byte), taken.count + marked.count < Self.lockLimit else { return .alone }
    taken.insert(byte)
    return .granted
  }

  /// Takes the kernel's answer, and returns the loads to resume.
  mutating func settle(_ byte: UInt64, _ answer: Answer) -> [Waiter] {
    if answer == .granted { overtaken[byte] = nil } else { taken.remove(byte) }
    return answer == .alone ? wake(byte) : []
  }

  /// Whether a load may wait for the turn of another.
  func mayWait(for byte: UInt64, isPolled: Bool, at now: MonotonicTime) -> Bool {
    let isOvertaken = [byte, nil].contains { overtaken[$0].map { now < $0 } == true }
    return !isOvertaken && (!isPolled || waiting.count < 64)
  }

  /// Lets a load wait; returns false if there were wakes since it asked.
  mutating func wait(for byte: UInt64, since count: Int, _ waiter: Waiter) -> Bool {
    guard count == wakeCount else { return false }
    waiting[byte, default: []].append(waiter)
    return true
  }

  /// Wakes the loads that wait for a byte, or all with nil, and returns them.
  mutating func wake(_ byte: UInt64?) -> [Waiter] {
    wakeCount += 1
    guard let byte else { return exchange(&waiting, with: [:]).values.flatMap(\.self) }
    return waiting.removeValue(forKey: byte) ?? []
  }

  /// Ends a turn whose lock has ended.
  mutating func end(_ byte: UInt64, isMarked: Bool) -> [Waiter] {
    taken.remove(byte)
    if isMarked { marked.insert(byte) }
    return wake(byte)
  }

  /// Lets no load wait for those that other processes have begun, of one byte or of all.
  mutating func overtake(_ byte: UInt64?, until end: MonotonicTime) -> [Waiter] {
    let byte = overtaken.count < Self.lockLimit ? byte : nil
    if byte == nil { overtaken = [:] }
    overtaken[byte] = end
    return wake(byte)
  }

  /// Plans the tick that wakes all; returns nil if it is planned. The pause grows while loads wait.
  mutating func planTick(_ pauses: ClosedRange<Int>) -> Int? {
    if exchange(&isTickPlanned, with: true) { return nil }
    pause = min(max(pause * 2, pauses.lowerBound), pauses.upperBound)
    return pause
  }

  mutating func tick() -> [Waiter] {
    isTickPlanned = false
    if !isAwaited { pause = 0 }
    return wake(nil)
  }
}

extension DiskCache {
  /// Looks for a value and, if there is none, loads it when no other process does so. `mayWait` is
  /// asked before each wait. `count` is called before the first one and before a load alone.
  package func inTurn<Result: Sendable>(
    _ name: EntryName, mayWait: () -> Bool, look: () async throws -> Result?,
    load: () async throws -> (Result, isPublished: Bool), count: (_ isAlone: Bool) -> Void
  ) async throws -> Result {
    let (engine, byte) = (engine, LoadTurn.byte(of: name))
    if followsNeighbours, !engine.isWatchSettled {
      try await executor.run("value") { engine.startWatching() }
    }
    var (bound, looks) = (MonotonicTime?.none, true)
    while true {
      // A network's lock can take long, and the threads of Swift's pool must not wait.
      let (turn, isRefused, wakeCount) =
        engine.isOnNetwork
        ? try await executor.run("value") { engine.takeTurn(of: byte) } : engine.takeTurn(of: byte)
      let now = MonotonicTime.now
      guard isRefused, mayWait(), bound.map({ now < $0 }) != false,
        engine.turns.withLock({ $0.mayWait(for: byte, isPolled: !engine.hasEvents, at: now) })
      else {
        return try await engine.holding(turn) {
          if let found = try await look() { return (found, true) }
          if turn == nil { count(true) }
          return try await load()
        }
      }
      if looks, let found = try await look() { return found }
      if bound == nil { count(false) }
      bound = bound ?? now.advanced(by: engine.configuration.longestTurn)
      looks = await engine.waitForTurn(of: byte, since: wakeCount)
      try Task.checkCancellation()
    }
  }
}

extension DiskEngine {
  /// Whether loads are shared, from the first on, or from `shareLoads()` on.
  package var sharesLoads: Bool { turns.withLock { $0.tag != nil } }
  package func shareLoads() { if configuration.mode == .shared { _ = upkeep(try lockableTag()) } }

  /// Asks for a turn. Without one, the load waits if it is refused, and else loads alone.
  fileprivate func takeTurn(of byte: UInt64) -> (LoadTurn?, isRefused: Bool, wakeCount: Int) {
    var (answer, wakeCount) = turns.withLock { ($0.claim(byte), $0.wakeCount) }
    guard answer == .granted else { return (nil, answer == .refused, wakeCount) }
    var turn: LoadTurn?
    answer = .alone
    do throws(Errno) {
      let tag = try lockableTag()
      answer = try tag.file.setLock(.exclusive, byte: byte) ? .granted : .refused
      if answer == .granted, upkeep(try tag.file.isLocked(byte: byte + 1)) == true {
        upkeep(try tag.file.setLock(nil, byte: byte))
        answer = .alone
      }
      if answer == .granted { turn = LoadTurn(byte, in: tag) }
    } catch {
      noteUpkeepFailure(error)
    }
    resume(turns.withLock { [answer] in $0.settle(byte, answer) }, looks: false)
    return (turn, answer == .refused, wakeCount)
  }

  /// Returns the directory's tag, opened again if that is another file now.
  private func lockableTag() throws(Errno) -> LockableTag {
    let handle = location.handle
    let known = turns.withLock { $0.tag }
    if let known, known.handle === handle, try known.file.status().linkCount > 0 { return known }
    let tag = try LockableTag(in: handle)
    _ = turns.withLock { exchange(&$0.tag, with: tag) }
    return tag
  }

  /// Waits for another load's turn. Returns whether there may be a value.
  fileprivate func waitForTurn(of byte: UInt64, since wakeCount: Int) async -> Bool {
    await withCheckedContinuation { waiter in
      guard turns.withLock({ $0.wait(for: byte, since: wakeCount, waiter) }) else {
        return waiter.resume(returning: true)
      }
      let pauses = hasEvents ? 20...1_000 : isOnNetwork ? 1...250 : 1...25
      guard let pause = turns.withLock({ $0.planTick(pauses) }) else { return }
      runLater(after: .milliseconds(pause)) { $0.resume($0.turns.withLock { $0.tick() }) }
    }
  }

  /// Runs a load and ends its turn, also when it is cancelled, because it may hang then.
  fileprivate func holding<Result: Sendable>(
    _ turn: LoadTurn?, _ load: () async throws -> (Result, isPublished: Bool)
  ) async throws -> Result {
    var isPublished = false
    defer { end(turn, isPublished ? .published : Task.isCancelled ? .cancelled : .notKept) }
    let result: Result
    (result, isPublished) = try await withTaskCancellationHandler(operation: load) {
      end(turn, .cancelled)
    }
    return result
  }

  private func end(_ turn: LoadTurn?, _ ending: TurnEnding) {
    guard let turn, !turn.isOver.exchange(true, ordering: .relaxed) else { return }
    if isOnNetwork, threads.submitAside({ self.unlock(turn, ending) }) { return }
    unlock(turn, ending)
  }

  private func unlock(_ turn: LoadTurn, _ ending: TurnEnding) {
    let (tag, byte) = (turn.tag, turn.byte)
    let isMarked = ending == .notKept
    if isMarked { upkeep(try tag.file.setLock(.shared, byte: byte + 1)) }
    upkeep(try tag.file.setLock(nil, byte: byte))
    resume(turns.withLock { $0.end(byte, isMarked: isMarked) }, looks: true)
    // Closing it brings an event to all who watch.
    if ending != .published { upkeep(try LockableTag(in: tag.handle)) }
    if isMarked { runLater(after: .seconds(1)) { $0.endMark(of: turn) } }
  }

  private func endMark(of turn: LoadTurn) {
    upkeep(try turn.tag.file.setLock(nil, byte: turn.byte + 1))
    _ = turns.withLock { $0.marked.remove(turn.byte) }
  }

  private func resume(_ waiters: [CheckedContinuation<Bool, Never>], looks: Bool = false) {
    for waiter in waiters { waiter.resume(returning: looks) }
  }

  /// Wakes the loads that wait for what events tell of.
  func wakeTurns(for batch: EventBatch) {
    guard sharesLoads else { return }
    let bytes = batch.names.keys.map(LoadTurn.byte)
    resume(turns.withLock { table in bytes.flatMap { table.wake($0) } }, looks: true)
    let isOfAny = batch.isIncomplete || batch.concernsDirectory
    guard isOfAny || batch.concernsTag else { return }
    wakeTurns(looks: isOfAny)
    // The event of a killed process can come before the end of its locks.
    runLater(after: .milliseconds(20)) { $0.wakeTurns(looks: false) }
  }

  /// Wakes all loads that wait.
  func wakeTurns(looks: Bool) { resume(turns.withLock { $0.wake(nil) }, looks: looks) }

  /// Lets no load of a name, or of any, wait for one that another process has begun before a change
  /// by this process.
  package func overtake(_ name: EntryName?) {
    guard sharesLoads else { return }
    let byte = name.map(LoadTurn.byte)
    if let byte, upkeep(try lockableTag().file.isLocked(byte: byte)) != true { return }
    let end = MonotonicTime.now.advanced(by: configuration.longestTurn)
    resume(turns.withLock { $0.overtake(byte, until: end) }, looks: false)
  }
}
