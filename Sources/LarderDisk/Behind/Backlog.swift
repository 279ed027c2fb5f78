import LarderBasics
import LarderSystem

/// The table of `WriteBehind`: the values that were accepted and are not written yet.
///
/// A value answers reads from when it is added until its turn ends or it is dropped:
///
/// 1. It waits for its turn. A newer value of its name takes its place and its turn.
/// 2. `next(upTo:)` hands it to one thread, which writes it. A newer value of the name waits
///    meanwhile and gets its own turn afterwards, so even a name that is stored all the time
///    reaches the disk.
/// 3. `finishTurn(of:isWritten:)`: it is written, or lost.
///
/// A name is dropped when it is removed or stored directly. A removal of everything hides all
/// values until its end, or puts them back. A value that a thread is writing is no longer current
/// then and must not be published.
struct Backlog: Sendable {
  /// A value on its way to the disk.
  final class Write: Sendable {
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
  struct Value: Sendable {
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

    fileprivate mutating func use(at access: Timestamp, expiry: Timestamp?) {
      lastAccess = max(lastAccess, access)
      if let expiry { self.expiry = max(self.expiry, expiry) }
    }
  }

  private var waiting: NameMap<Value> = [:]
  /// The values that threads are writing, at most one of a name.
  private var underway: [EntryName: Value] = [:]
  // Turns and not values, because a value that was written or replaced must not stay in memory
  // until all have had their turn, which under a steady load is never. A turn is past if its number
  // is not that of the waiting value.
  private var queue = TurnQueue()
  /// Names of which a value came while an older one was being written. They go next, and are hardly
  /// more than the threads that write.
  private var ready: [EntryName] = []
  /// The number of the latest value.
  private(set) var latest: UInt64 = 0
  /// The newest value of each name that a removal of everything has hidden, the earliest removal
  /// first.
  private(set) var hidden: [NameMap<Value>] = []
  /// The names of which a thread was writing a value when it was hidden.
  private(set) var hiddenUnderway: [EntryName] = []
  /// The cost of the hidden values.
  private(set) var hiddenCost = 0
  /// The threads that wait for room, in the order in which they came.
  private var line: [UInt64] = []
  private var lastPlace: UInt64 = 0
  private var reservedCost = 0
  private var valueCost = 0
  /// Whether a thread writes or has been asked to.
  var hasWriter = false
  /// The thread that writes; nil if none does at the moment.
  var writer: ThreadIdentity?
  /// Whether no value is accepted any more.
  var isClosed = false
  /// The first failure since the last `flush()` that threw one.
  var failure: CacheError?

  var isEmpty: Bool { waiting.isEmpty && underway.isEmpty }

  /// The cost of all values, including those that are being written, and of reserved places.
  var cost: Int { valueCost + reservedCost }

  /// The newest value of a name.
  subscript(name: EntryName) -> Value? { waiting[name] ?? underway[name] }

  /// A value that a thread is writing; nil if it must not be published any more.
  subscript(write: Write) -> Value? {
    underway[write.subject.name].flatMap { $0.write === write ? $0 : nil }
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
    reservedCost += count
    return true
  }

  /// Whether a thread waits for room.
  var isAwaited: Bool { !line.isEmpty }

  /// Gives back reserved bytes, which the value takes now or never will.
  mutating func giveBack(_ count: Int) { reservedCost -= count }
}

// Adding, using and dropping values.
extension Backlog {
  /// Adds a value.
  mutating func add(_ write: Write) {
    let name = write.subject.name
    latest += 1
    valueCost += write.cost
    if let old = waiting[name] {
      valueCost -= old.write.cost
      waiting[name] = Value(write, since: old.since)
    } else {
      waiting[name] = Value(write, since: latest)
      if underway[name] == nil { queue.append(TurnQueue.Turn(name: name, number: latest)) }
    }
  }

  /// Notes a use of a value, unless its turn has ended or it was replaced.
  mutating func use(_ write: Write, at access: Timestamp, expiry: Timestamp?) {
    let name = write.subject.name
    if waiting[name]?.write === write {
      waiting[name]?.use(at: access, expiry: expiry)
    } else if underway[name]?.write === write {
      underway[name]?.use(at: access, expiry: expiry)
    }
  }

  /// Drops the values of a name.
  ///
  /// - Returns: Whether there was a value.
  @discardableResult
  mutating func drop(_ name: EntryName) -> Bool {
    guard !isEmpty else { return false }
    let dropped = [waiting.removeValue(forKey: name), underway.removeValue(forKey: name)]
    for value in dropped.compactMap(\.self) { valueCost -= value.write.cost }
    return dropped.contains { $0 != nil }
  }
}

// Hiding all values.
extension Backlog {
  /// Hides all values, in a time that does not grow with their number.
  mutating func hide() {
    for (name, value) in underway {
      hiddenUnderway.append(name)
      if waiting[name] == nil { waiting[name] = value } else { valueCost -= value.write.cost }
    }
    if !waiting.isEmpty { hidden.append(waiting) }
    hiddenCost += exchange(&valueCost, with: 0)
    (waiting, underway, queue, ready) = ([:], [:], TurnQueue(), [])
  }

  /// Takes out the hidden values of a name, and returns the newest.
  @discardableResult
  mutating func takeHidden(_ name: EntryName) -> Write? {
    var newest: Write?
    for index in hidden.indices {
      guard let value = hidden[index].removeValue(forKey: name) else { continue }
      hiddenCost -= value.write.cost
      newest = value.write
    }
    return newest
  }

  /// Takes out all hidden values. The caller lists them outside of the lock (`writes(of:)`).
  mutating func takeHidden() -> [NameMap<Value>] {
    (hiddenCost, hiddenUnderway) = (0, [])
    return exchange(&hidden, with: [])
  }

  /// Returns the newest of some hidden values of each name.
  ///
  /// - Complexity: O(n).
  static func writes(of hidden: [NameMap<Value>]) -> [Write] {
    var names: Set<EntryName> = []
    return hidden.reversed().flatMap(\.allValues).map(\.write)
      .filter { names.insert($0.subject.name).inserted }
  }

  /// Puts a value back that was hidden, unless there is a newer one.
  mutating func putBack(_ write: Write) {
    if self[write.subject.name] == nil { add(write) }
  }
}

// Taking turns.
extension Backlog {
  /// Takes the next value that has to be written so that every value accepted up to `number` is on
  /// the disk; nil if none is left to start.
  mutating func next(upTo number: UInt64 = .max) -> Write? {
    ready.removeAll { waiting[$0] == nil }
    let first = ready.firstIndex { name in
      underway[name] == nil && waiting[name].map { $0.since <= number } ?? false
    }
    if let first { return take(ready.remove(at: first)) }
    while let turn = queue.first {
      if waiting[turn.name]?.since == turn.number {
        // Turns are in the order of acceptance, so those that follow are newer.
        guard turn.number <= number else { return nil }
        queue.removeFirst()
        return take(turn.name)
      }
      queue.removeFirst()
    }
    return nil
  }

  /// Returns what a thread has to write that waits until every value up to a number is on the disk,
  /// lost or dropped; nil inside if nothing is left, and nil while other threads write the rest.
  mutating func step(upTo number: UInt64) -> Write?? {
    if let write = next(upTo: number) { return write }
    // A value that waits beside one that is written is newer.
    return underway.values.contains { $0.since <= number } ? .none : .some(nil)
  }

  /// Returns the same for the values of one name.
  mutating func step(for name: EntryName, upTo number: UInt64) -> Write?? {
    if let value = underway[name] { return value.since <= number ? .none : .some(nil) }
    guard let value = waiting[name], value.since <= number else { return .some(nil) }
    return take(name)
  }

  private mutating func take(_ name: EntryName) -> Write? {
    guard let value = waiting.removeValue(forKey: name) else { return nil }
    underway[name] = value
    return value.write
  }

  /// Ends the turn of a value that is still current.
  ///
  /// - Parameter isWritten: Whether its file is in place. If it is not, a newer value of the name
  ///   stands for it as well.
  /// - Returns: The value with its last uses; nil if it was dropped or hidden meanwhile.
  @discardableResult
  mutating func finishTurn(of write: Write, isWritten: Bool) -> Value? {
    let name = write.subject.name
    guard let value = self[write] else { return nil }
    underway[name] = nil
    valueCost -= write.cost
    if waiting[name] != nil {
      if !isWritten { waiting[name]?.since = value.since }
      ready.append(name)
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

  /// Lets the writer rest.
  ///
  /// - Returns: The memory of many values that were written, which the caller releases outside of
  ///   the lock.
  mutating func endWriting() -> NameMap<Value>? {
    hasWriter = false
    writer = nil
    return waiting.takeExcess()
  }
}

/// The turns of names that wait to be written, in the order in which they came.
///
/// The turns are in chunks, so neither adding nor removing one moves the others. An array of a
/// million turns would move them for milliseconds under the engine's lock.
struct TurnQueue: Sendable {
  struct Turn: Sendable {
    let name: EntryName
    let number: UInt64
  }

  /// The number of turns in a chunk.
  static let chunkCount = 1024

  private var chunks: [[Turn]] = []
  /// The number of turns of the first chunk that are gone.
  private var goneCount = 0

  /// The turn that came first; nil if there is none.
  var first: Turn? {
    guard let chunk = chunks.first, goneCount < chunk.count else { return nil }
    return chunk[goneCount]
  }

  /// Adds a turn after the others.
  ///
  /// - Complexity: O(1).
  mutating func append(_ turn: Turn) {
    if chunks.isEmpty {
      // The first chunk grows as arrays do, so that a small queue stays small.
      chunks.append([])
    } else if chunks[chunks.count - 1].count == Self.chunkCount {
      chunks.append([])
      chunks[chunks.count - 1].reserveCapacity(Self.chunkCount)
    }
    chunks[chunks.count - 1].append(turn)
  }

  /// Removes the turn that came first. There must be one.
  ///
  /// - Complexity: O(1), but for one pointer a chunk each 1,024 calls.
  mutating func removeFirst() {
    goneCount += 1
    guard goneCount == chunks[0].count else { return }
    goneCount = 0
    if chunks.count == 1 {
      chunks[0].removeAll(keepingCapacity: true)
    } else {
      chunks.removeFirst()
    }
  }
}
