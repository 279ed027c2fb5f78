import LarderBasics
import LarderSystem

/// The values that were accepted and are not written yet.
///
/// A value answers reads from when it is added until it is settled or dropped:
///
/// 1. It waits for its turn. A newer value of its name takes its place and its turn.
/// 2. `next(upTo:)` hands it to one thread, which writes it. A newer value of the name waits
///    meanwhile and gets its own turn afterwards, so even a name that is stored all the time
///    reaches the disk.
/// 3. It is settled: written, or lost.
///
/// A name is dropped when it is removed or stored directly. A value of it that a thread is writing
/// is no longer current then and must not be published.
package struct Backlog: Sendable {
  /// A value on its way to the disk.
  package final class Write: Sendable {
    let bytes: [UInt8]
    let subject: DiskEngine.Subject
    /// Made when the value was accepted, because a lifetime counts from then.
    let seal: EntryWriter.Seal
    /// The bytes that it takes of the limit.
    let cost: Int

    init(_ bytes: [UInt8], _ subject: DiskEngine.Subject, _ seal: EntryWriter.Seal) {
      self.bytes = bytes
      self.subject = subject
      self.seal = seal
      cost = Backlog.cost(of: bytes.count, subject.key, seal.extendedData)
    }
  }

  /// A value with its uses since it was accepted.
  package struct Value: Sendable {
    let write: Write
    /// The number of the oldest value that this one replaced before it was written, or its own.
    fileprivate(set) var since: UInt64
    fileprivate(set) var lastAccess: Timestamp
    fileprivate(set) var expiry: Timestamp

    fileprivate init(_ write: Write, since: UInt64) {
      self.write = write
      self.since = since
      lastAccess = write.seal.lastAccess
      expiry = write.seal.expiry
    }

    /// Whether a read of a key finds this value. False if the value has expired or belongs to
    /// another key with the same MD5.
    func isServed(to key: CacheKey, at now: Timestamp) -> Bool {
      write.subject.key == key && !expiry.hasCome(at: now)
    }
  }

  /// The next step of a thread that waits until every value up to a number is on the disk.
  package enum Step: Sendable {
    /// The thread has to write this value.
    case write(Write)
    /// Nothing is left: every value is on the disk, lost or dropped.
    case finished
  }

  fileprivate struct Waiting: Sendable {
    var value: Value
    var turn: UInt64
  }

  private var waiting: NameMap<Waiting> = [:]
  /// The values that threads are writing, at most one of a name.
  private var underway: [EntryName: Value] = [:]
  // Turns and not values, because a value that was written or replaced must not stay in memory
  // until all have had their turn, which under a steady load is never. A turn is past if its number
  // is not that of the waiting value.
  private var queue = TurnQueue()
  /// Turns that came while an earlier value of their name was being written. They are hardly more
  /// than the threads that write.
  private var deferred: [TurnQueue.Turn] = []
  private var lastTurn: UInt64 = 0
  /// The number of the latest value.
  private(set) var latest: UInt64 = 0
  /// The threads that wait for room, in the order in which they came.
  private var line: [UInt64] = []
  private var lastPlace: UInt64 = 0
  /// The cost of all values, including those that are being written, and of reserved places.
  private(set) var cost = 0
  /// The cost of all values without reserved places.
  private var valueCost = 0
  /// Whether a thread writes or has been asked to.
  var hasWriter = false
  /// The thread that writes; nil if none does at the moment.
  var writer: ThreadIdentity?
  /// The first failure since the last `flush()` that threw one.
  var failure: CacheError?

  var isEmpty: Bool { waiting.isEmpty && underway.isEmpty }

  /// The newest value of a name.
  subscript(name: EntryName) -> Value? { waiting[name]?.value ?? underway[name] }

  /// A value that a thread is writing; nil if it was dropped.
  subscript(write: Write) -> Value? { isCurrent(write) ? underway[write.subject.name] : nil }

  /// Whether a value that a thread is writing may still be published under its name.
  func isCurrent(_ write: Write) -> Bool { underway[write.subject.name]?.write === write }
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
  /// - Parameter place: The thread's place in the line; nil at its first attempt.
  mutating func reserve(_ count: Int, limit: Int, place: inout UInt64?) -> Bool {
    let isFirst = line.isEmpty || line.first == place
    guard isFirst, count <= limit - min(cost, limit) else {
      if place == nil {
        lastPlace += 1
        line.append(lastPlace)
        place = lastPlace
      }
      return false
    }
    if place != nil { line.removeFirst() }
    cost += count
    return true
  }

  /// Whether a thread waits for room.
  var isAwaited: Bool { !line.isEmpty }

  /// Gives back reserved bytes that no value took.
  mutating func giveBack(_ count: Int) {
    cost -= count
  }
}

// Adding, using and dropping values.
extension Backlog {
  /// Adds a value for which room is reserved.
  mutating func add(_ bytes: [UInt8], _ subject: DiskEngine.Subject, _ seal: EntryWriter.Seal) {
    add(Write(bytes, subject, seal))
  }

  /// Adds a value again that was dropped. No room needs to be reserved for it.
  mutating func addAgain(_ write: Write) {
    cost += write.cost
    add(write)
  }

  private mutating func add(_ write: Write) {
    let name = write.subject.name
    latest += 1
    valueCost += write.cost
    if let old = waiting[name] {
      release(old.value)
      waiting[name]?.value = Value(write, since: old.value.since)
    } else {
      lastTurn += 1
      waiting[name] = Waiting(value: Value(write, since: latest), turn: lastTurn)
      queue.append(TurnQueue.Turn(name: name, number: lastTurn))
    }
  }

  private mutating func release(_ value: Value) {
    cost -= value.write.cost
    valueCost -= value.write.cost
  }

  /// Notes a use of a value, unless it was settled or replaced.
  mutating func use(_ write: Write, at access: Timestamp, expiry: Timestamp?) {
    let name = write.subject.name
    if waiting[name]?.value.write === write {
      waiting[name]?.value.use(at: access, expiry: expiry)
    } else if isCurrent(write) {
      underway[name]?.use(at: access, expiry: expiry)
    }
  }

  /// Drops the values of a name.
  ///
  /// - Returns: Whether there was a value.
  @discardableResult
  mutating func drop(_ name: EntryName) -> Bool {
    guard !isEmpty else { return false }
    let dropped = [waiting.removeValue(forKey: name)?.value, underway.removeValue(forKey: name)]
    for value in dropped.compactMap(\.self) { release(value) }
    return dropped.contains { $0 != nil }
  }

  /// Drops all values, in a time that does not grow with their number.
  mutating func dropAll() -> Dropped {
    let dropped = Dropped(waiting: waiting, underway: underway, queue: queue, cost: valueCost)
    cost -= exchange(&valueCost, with: 0)
    (waiting, underway, queue, deferred) = ([:], [:], TurnQueue(), [])
    return dropped
  }

  /// The newest values of all names that were dropped at once.
  struct Dropped: Sendable {
    fileprivate var waiting: NameMap<Waiting> = [:]
    fileprivate var underway: [EntryName: Value] = [:]
    /// Only to be released with the rest, outside of the engine's lock.
    fileprivate var queue = TurnQueue()
    /// The cost of the values.
    fileprivate(set) var cost = 0

    /// Adds the values that were dropped later.
    mutating func add(_ newer: Dropped) {
      if waiting.isEmpty && underway.isEmpty { return self = newer }
      cost += newer.cost
      for value in newer.waiting.allValues {
        let old = exchange(&waiting[value.value.write.subject.name], with: value)
        cost -= old?.value.write.cost ?? 0
      }
      underway.merge(newer.underway) { $1 }
    }

    /// The names of which a thread was writing a value.
    var namesUnderway: [EntryName] { Array(underway.keys) }

    /// Takes out the value of a name.
    @discardableResult
    mutating func remove(_ name: EntryName) -> Write? {
      if waiting.isEmpty && underway.isEmpty { return nil }
      let older = underway.removeValue(forKey: name)?.write
      let newer = waiting.removeValue(forKey: name)?.value.write
      cost -= (older?.cost ?? 0) + (newer?.cost ?? 0)
      return newer ?? older
    }

    /// The values that are left.
    ///
    /// - Complexity: O(n).
    var writes: [Write] {
      waiting.allValues.map(\.value.write)
        + underway.values.map(\.write).filter { waiting[$0.subject.name] == nil }
    }
  }
}

// Taking turns.
extension Backlog {
  /// Takes the next value that has to be written so that every value accepted up to `number` is on
  /// the disk; nil if none is left to start.
  mutating func next(upTo number: UInt64 = .max) -> Write? {
    if !deferred.isEmpty { deferred = deferred.filter { isToCome($0) } }
    let ready = deferred.firstIndex { turn in
      underway[turn.name] == nil && waiting[turn.name].map { $0.value.since <= number } ?? false
    }
    if let ready { return take(deferred.remove(at: ready).name) }
    while let turn = queue.first {
      guard isToCome(turn) else {
        queue.removeFirst()
        continue
      }
      // Turns are in the order of acceptance, so those that follow are newer.
      guard let value = waiting[turn.name]?.value, value.since <= number else { return nil }
      queue.removeFirst()
      if underway[turn.name] == nil { return take(turn.name) }
      deferred.append(turn)
    }
    return nil
  }

  /// Returns the next step until every value up to a number is on the disk; nil while other threads
  /// write the rest.
  mutating func step(upTo number: UInt64) -> Step? {
    if let write = next(upTo: number) { return .write(write) }
    return holdsAny(upTo: number) ? nil : .finished
  }

  /// Returns the next step until the values of one name up to a number are on the disk; nil while
  /// another thread writes them.
  mutating func step(for name: EntryName, upTo number: UInt64) -> Step? {
    // A value that waits beside it is newer.
    if let value = underway[name] { return value.since <= number ? nil : .finished }
    guard let value = waiting[name]?.value, value.since <= number else { return .finished }
    return take(name).map { .write($0) }
  }

  /// Ends the turn of a value that is still current.
  ///
  /// - Parameter isWritten: Whether its file is in place. If it is not, a newer value of the name
  ///   stands for it as well.
  /// - Returns: The value with its last uses; nil if it was dropped meanwhile.
  @discardableResult
  mutating func finishTurn(of write: Write, isWritten: Bool) -> Value? {
    let name = write.subject.name
    guard let value = underway[name], value.write === write else { return nil }
    underway[name] = nil
    release(value)
    if !isWritten, waiting[name] != nil {
      lastTurn += 1
      waiting[name]?.value.since = value.since
      waiting[name]?.turn = lastTurn
      deferred.append(TurnQueue.Turn(name: name, number: lastTurn))
    }
    return value
  }

  /// Claims the writing of the waiting values for one thread. Returns false if none waits or a
  /// thread has claimed it already.
  mutating func claimWriter() -> Bool {
    guard !hasWriter, !waiting.isEmpty else { return false }
    hasWriter = true
    return true
  }

  private func holdsAny(upTo number: UInt64) -> Bool {
    if underway.values.contains(where: { $0.since <= number }) { return true }
    return deferred.contains { turn in
      isToCome(turn) && waiting[turn.name].map { $0.value.since <= number } ?? false
    }
  }

  private func isToCome(_ turn: TurnQueue.Turn) -> Bool { waiting[turn.name]?.turn == turn.number }

  private mutating func take(_ name: EntryName) -> Write? {
    guard let value = waiting.removeValue(forKey: name)?.value else { return nil }
    underway[name] = value
    return value.write
  }

  /// The memory of many values that were written, which the caller releases outside of the engine's
  /// lock.
  struct Remains: Sendable {
    fileprivate let waiting: NameMap<Waiting>
  }

  /// Lets the writer rest.
  mutating func endWriting() -> Remains? {
    hasWriter = false
    writer = nil
    return waiting.takeExcess().map(Remains.init)
  }
}

extension Backlog.Value {
  fileprivate mutating func use(at access: Timestamp, expiry: Timestamp?) {
    lastAccess = max(lastAccess, access)
    if let expiry { self.expiry = max(self.expiry, expiry) }
  }
}
