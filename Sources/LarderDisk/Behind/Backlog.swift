import LarderBasics
import LarderSystem

/// The table of `WriteBehind`: the values that were accepted and are not written yet.
///
/// They are written in rounds. A value answers reads until its turn ends or it is dropped:
///
/// 1. It waits for the next round. A newer value of its name takes its place.
/// 2. It is due: its round has begun. A newer value takes its place and its turn.
/// 3. `next(upTo:)` hands it to one thread, which writes it. A newer value of the name is written
///    in the next round, so even a name that is stored all the time reaches the disk, and holds up
///    no other.
/// 4. `finishTurn(of:isWritten:)`: it is written, or lost.
///
/// A name is dropped when it is removed or stored directly. A removal of everything hides all
/// values until its end, or puts them back. A value that a thread is writing is no longer current
/// then and must not be published.
struct Backlog: Sendable {
  /// A value on its way to the disk.
  final class Write: Sendable {
    let bytes: [UInt8]
    let subject: Subject
    /// Made when the value was accepted, because a lifetime counts from then.
    let seal: Seal

    init(_ bytes: [UInt8], _ subject: Subject, _ seal: Seal) {
      (self.bytes, self.subject, self.seal) = (bytes, subject, seal)
    }

    /// The bytes that it takes of the limit.
    var cost: Int { Backlog.cost(of: bytes.count, subject.key, seal.extendedData) }
  }

  /// A value with its uses since it was accepted.
  struct Value: Sendable {
    let write: Write
    /// The round that writes it, or was to write a value whose place it took.
    fileprivate(set) var round: UInt64
    /// Whether it stands for an older value that could not be written.
    fileprivate(set) var isSubstitute = false
    fileprivate(set) var lastAccess: Timestamp
    fileprivate(set) var expiry: Timestamp

    /// Whether a read of a key finds this value. False if the value has expired or belongs to
    /// another key with the same MD5.
    func isServed(to key: CacheKey, at now: Timestamp) -> Bool {
      write.subject.key == key && !expiry.hasCome(at: now)
    }
  }

  /// The turn of a name: the value that a thread is writing, and a newer one that came meanwhile.
  private struct Turn: Sendable {
    /// Nil if it has ended, and a newer value is due already.
    var value: Value?
    var newer: Value?

    var round: UInt64 { (value ?? newer)?.round ?? 0 }
  }

  // A name is in one of these three.
  private var waiting = NameMap<Value>()
  private var due = NameMap<Value>()
  private var turns: [EntryName: Turn] = [:]
  /// The slot of `due` that is looked at next. The slots are in the order in which the names came.
  private var nextSlot = 0
  private var round: UInt64 = 0
  /// The tables of rounds that are over.
  private var spent: [NameMap<Value>] = []
  /// The values that each removal of everything has hidden, the earliest removal first. A name is
  /// in one of them at most, because a newer value of it supersedes a hidden one.
  private(set) var hidden: [NameMap<Value>] = []
  /// The cost of the hidden values.
  private(set) var hiddenCost = 0
  /// The hidden values that are never put back, because their names were stored or removed since.
  var superseded: [EntryName: (subject: Subject, byteCount: Int)] = [:]
  /// The threads that wait for room, in the order in which they came.
  private(set) var line: [ThreadIdentity] = []
  private var reservedCost = 0
  private var valueCost = 0
  /// Whether a thread writes or has been asked to.
  var hasWriter = false
  /// The threads that are writing a value, or keep the limits after it, and its round.
  var writers: [(thread: ThreadIdentity, round: UInt64)] = []
  /// Whether no value is accepted any more.
  var isClosed = false
  /// The first failure since the last `flush()` that threw one.
  var failure: CacheError?

  var isEmpty: Bool { waiting.isEmpty && due.isEmpty && turns.isEmpty }

  /// The cost of all values, including those that are being written, and of reserved places.
  var cost: Int { valueCost + reservedCost }

  /// The round in which every value that was accepted so far is written.
  var latestRound: UInt64 { round + 1 }

  /// The newest value of a name.
  subscript(name: EntryName) -> Value? {
    turns[name].flatMap { $0.newer ?? $0.value } ?? due[name] ?? waiting[name]
  }

  /// Whether a removal of everything hides a value of a name.
  func hides(_ name: EntryName) -> Bool { hidden.contains { $0[name] != nil } }

  /// A value that a thread is writing; nil if it must not be published any more.
  subscript(write: Write) -> Value? {
    turns[write.subject.name]?.value.flatMap { $0.write === write ? $0 : nil }
  }
}

// Reserving room.
extension Backlog {
  /// The memory that a waiting value takes beside content, key and extended data: its objects, and
  /// its places in the tables of names and turns.
  static let recordByteCount = 512

  /// Returns the memory that a value takes while it waits.
  static func cost(of byteCount: Int, _ key: CacheKey, _ extendedData: [UInt8]) -> Int {
    byteCount + key.byteCount + extendedData.count + recordByteCount
  }

  /// Reserves a number of bytes if there is room and no other thread waits for longer. A large
  /// value would otherwise wait for ever while small ones pass it.
  ///
  /// - Returns: Whether they were reserved; nil if the thread has to wait. One that is writing must
  ///   not: it is its clock that stores.
  mutating func reserve(_ count: Int, limit: Int, by thread: ThreadIdentity = .current) -> Bool? {
    let isFirst = line.isEmpty || line.first == thread
    guard isFirst, count <= limit - min(cost, limit) else {
      if writers.contains(where: { $0.thread == thread }) { return false }
      if !line.contains(thread) { line.append(thread) }
      return nil
    }
    if !line.isEmpty { line.removeFirst() }
    reservedCost += count
    return true
  }

  /// Gives back reserved bytes, which the value takes now or never will.
  mutating func giveBack(_ count: Int) { reservedCost -= count }
}

// Adding, using and dropping values.
extension Backlog {
  /// Adds a value.
  mutating func add(_ write: Write) {
    let name = write.subject.name
    supersede(name)
    let old = turns[name]?.newer ?? due[name] ?? waiting[name]
    valueCost += write.cost - (old?.write.cost ?? 0)
    put(
      Value(
        write: write, round: old?.round ?? latestRound, isSubstitute: old?.isSubstitute ?? false,
        lastAccess: write.seal.lastAccess, expiry: write.seal.expiry))
  }

  private mutating func put(_ value: Value) {
    let name = value.write.subject.name
    if let turn = turns[name] {
      let isWriting = turn.value?.write === value.write
      turns[name] = isWriting ? Turn(value: value) : Turn(value: turn.value, newer: value)
    } else if due[name] != nil {
      due[name] = value
    } else {
      waiting[name] = value
    }
  }

  /// Notes a use of the newest value of a name.
  mutating func use(_ name: EntryName, at access: Timestamp, expiry: Timestamp?) {
    guard var value = self[name] else { return }
    value.lastAccess = max(value.lastAccess, access)
    if let expiry { value.expiry = max(value.expiry, expiry) }
    put(value)
  }

  /// Drops the values of a name. One that is hidden does not come back.
  ///
  /// - Returns: Whether there was a value.
  @discardableResult
  mutating func drop(_ name: EntryName) -> Bool {
    supersede(name)
    guard !isEmpty else { return false }
    let turn = turns.removeValue(forKey: name)
    let others = [due.removeValue(forKey: name), waiting.removeValue(forKey: name)]
    let dropped = ([turn?.value, turn?.newer] + others).compactMap(\.self)
    for value in dropped { valueCost -= value.write.cost }
    return !dropped.isEmpty
  }
}

// Hiding all values.
extension Backlog {
  /// Hides all values, in a time that does not grow with their number.
  mutating func hide() {
    for turn in turns.values {
      if let value = turn.newer ?? turn.value { waiting[value.write.subject.name] = value }
      if turn.newer != nil, let older = turn.value { valueCost -= older.write.cost }
    }
    hidden += [due, waiting].filter { !$0.isEmpty }
    hiddenCost += exchange(&valueCost, with: 0)
    (waiting, due, turns, nextSlot) = (NameMap(), NameMap(), [:], 0)
  }

  /// Takes out the hidden value of a name.
  @discardableResult
  mutating func takeHidden(_ name: EntryName) -> Write? {
    for index in hidden.indices {
      guard let value = hidden[index].removeValue(forKey: name) else { continue }
      hiddenCost -= value.write.cost
      if hidden[index].isEmpty { spent.append(hidden.remove(at: index)) }
      return value.write
    }
    return nil
  }

  /// Forgets the hidden value of a name whose file was removed, because the file is counted.
  mutating func forgetHidden(_ name: EntryName) {
    takeHidden(name)
    superseded[name] = nil
  }

  /// Lets the hidden value of a name never come back. The end of the removal counts it.
  mutating func supersede(_ name: EntryName) {
    guard !hidden.isEmpty, let old = takeHidden(name) else { return }
    superseded[name] = (old.subject, old.bytes.count)
  }
}

// Taking turns.
extension Backlog {
  /// Takes the next value of the rounds up to one; nil if none is left to start.
  mutating func next(upTo last: UInt64 = .max) -> Write? {
    let late = turns.first { $0.value.value == nil && $0.value.round <= last }
    if let late { return start(late.key) }
    while round <= last {
      while nextSlot < due.slotCount {
        nextSlot += 1
        if let name = due.names(in: nextSlot - 1..<nextSlot).first { return start(name) }
      }
      if due.slotCount > 0 { spent.append(exchange(&due, with: NameMap())) }
      nextSlot = 0
      guard round < last, !waiting.isEmpty else { return nil }
      due = exchange(&waiting, with: NameMap())
      round += 1
    }
    return nil
  }

  /// Returns what a thread has to write that waits until every value of the rounds up to one, or
  /// those of one name, are on the disk, lost or dropped; nil inside if nothing is left, and nil
  /// while other threads write the rest. A writer, whose clock asks, waits for no round.
  mutating func step(for name: EntryName? = nil, upTo last: UInt64) -> Write?? {
    guard let name else {
      if writers.contains(where: { $0.thread == .current }) { return .some(nil) }
      if let write = next(upTo: last) { return write }
      let isWriting = turns.values.contains { $0.round <= last }
      return isWriting || writers.contains { $0.round <= last } ? .none : .some(nil)
    }
    if let turn = turns[name], turn.value != nil { return turn.round <= last ? .none : .some(nil) }
    guard let value = self[name], value.round <= last else { return .some(nil) }
    return start(name)
  }

  private mutating func start(_ name: EntryName) -> Write? {
    let value =
      turns[name]?.newer ?? due.removeValue(forKey: name) ?? waiting.removeValue(forKey: name)
    turns[name] = value.map { Turn(value: $0) }
    return value?.write
  }

  /// Ends the turn of a value that is still current.
  ///
  /// - Parameter isWritten: Whether its file is in place. If it is not, a newer value of the name
  ///   stands for it as well, but only once, because a flush would wait for ever for a name that is
  ///   stored all the time and fails.
  /// - Returns: The value with its last uses; nil if it was dropped or hidden meanwhile.
  @discardableResult
  mutating func finishTurn(of write: Write, isWritten: Bool) -> Value? {
    let name = write.subject.name
    guard let value = self[write] else { return nil }
    valueCost -= write.cost
    guard var newer = turns.removeValue(forKey: name)?.newer else { return value }
    if !isWritten, !value.isSubstitute { (newer.round, newer.isSubstitute) = (value.round, true) }
    if newer.round > round { waiting[name] = newer } else { turns[name] = Turn(newer: newer) }
    return value
  }

  /// Claims the writing of the waiting values for one thread. Returns false if none waits or a
  /// thread has claimed it already.
  mutating func claimWriter() -> Bool {
    let isIdle = waiting.isEmpty && due.isEmpty && turns.values.allSatisfy { $0.value != nil }
    guard !hasWriter, !isIdle else { return false }
    hasWriter = true
    return true
  }

  /// Takes the next value for the thread that claimed the writing, which rests if there is none.
  mutating func nextOfWriter() -> Write? {
    let write = next()
    hasWriter = write != nil
    return write
  }

  /// Takes the memory of tables that are used up, which the caller releases outside of the lock.
  mutating func takeSpent() -> [NameMap<Value>] { exchange(&spent, with: []) }
}
