/// Values that were accepted and are not written yet, the last one of each name.
struct Backlog: Sendable {
  /// A value on its way to the disk.
  final class Write: Sendable {
    let bytes: [UInt8]
    let subject: DiskEngine.Subject
    /// Settled when the value was accepted: a lifetime counts from then.
    let seal: EntryWriter.Seal
    let serial: UInt64

    init(
      _ bytes: [UInt8], _ subject: DiskEngine.Subject, _ seal: EntryWriter.Seal, serial: UInt64
    ) {
      self.bytes = bytes
      self.subject = subject
      self.seal = seal
      self.serial = serial
    }
  }

  /// A value that waits, and whether its turn is still to come.
  private struct Waiting {
    var write: Write
    var isQueued = true
  }

  private var waiting: [EntryName: Waiting] = [:]
  // In the order in which they came. Names and not values: a value that was written or replaced must
  // not stay in memory until all have had their turn, which under a steady load is never.
  private var queue: [EntryName] = []
  private var first = 0
  private var lastSerial: UInt64 = 0
  /// The bytes of all values that wait, those that are being written included, and of places that
  /// are reserved.
  private(set) var byteCount = 0
  /// Whether a thread writes, or has been asked to.
  var hasWriter = false
  /// The first failure since somebody was told of one.
  var failure: CacheError?

  var isEmpty: Bool { waiting.isEmpty }

  /// The serial number of the latest value.
  var latest: UInt64 { lastSerial }

  /// The value that waits under a name.
  subscript(name: EntryName) -> Write? { waiting[name]?.write }

  /// Whether a value is still the one to be written under its name.
  func isCurrent(_ write: Write) -> Bool { self[write.subject.name] === write }

  /// Takes the place of a value of that many bytes, if there is any.
  ///
  /// Of several threads that wait for the last place, one gets it.
  mutating func reserve(_ count: Int, limit: Int) -> Bool {
    guard count <= limit - min(byteCount, limit) else { return false }
    byteCount += count
    return true
  }

  /// Gives a place back that no value came to.
  mutating func giveBack(_ count: Int) {
    byteCount -= count
  }

  /// Adds a value, whose place is reserved. An earlier one of the name is never written, and its
  /// turn, if it is still to come, is the new one's.
  mutating func add(_ bytes: [UInt8], _ subject: DiskEngine.Subject, _ seal: EntryWriter.Seal) {
    let name = subject.name
    let hasTurn = waiting[name]?.isQueued ?? false
    drop(name)
    lastSerial += 1
    waiting[name] = Waiting(write: Write(bytes, subject, seal, serial: lastSerial))
    if !hasTurn { queue.append(name) }
  }

  /// Forgets the value of a name.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  mutating func drop(_ name: EntryName) -> Bool {
    guard !waiting.isEmpty, let old = waiting.removeValue(forKey: name) else { return false }
    byteCount -= old.write.bytes.count
    return true
  }

  /// The next value to be written, which stays until it is; nil when all have had their turn.
  mutating func next() -> Write? {
    defer { forgetTurns() }
    while first < queue.count {
      let name = queue[first]
      first += 1
      guard waiting[name]?.isQueued ?? false else { continue }
      waiting[name]?.isQueued = false
      return waiting[name]?.write
    }
    return nil
  }

  /// Drops the turns that are past, when they are the larger part.
  private mutating func forgetTurns() {
    guard first > queue.count / 2 else { return }
    queue.removeFirst(first)
    first = 0
  }

  /// Whether a value that was accepted no later than a serial number still waits.
  func holdsAny(upTo serial: UInt64) -> Bool {
    waiting.values.contains { $0.write.serial <= serial }
  }
}
