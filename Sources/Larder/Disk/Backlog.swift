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

  private var writes: [EntryName: Write] = [:]
  // In the order in which they came; one that was replaced or dropped stays until its turn comes.
  private var queue: [Write] = []
  private var first = 0
  private var lastSerial: UInt64 = 0
  /// The bytes of all values that wait, those that are being written included, and of places that
  /// are reserved.
  private(set) var byteCount = 0
  /// Whether a thread writes, or has been asked to.
  var hasWriter = false
  /// The first failure since somebody was told of one.
  var failure: CacheError?

  var isEmpty: Bool { writes.isEmpty }

  /// The serial number of the latest value.
  var latest: UInt64 { lastSerial }

  /// The value that waits under a name.
  subscript(name: EntryName) -> Write? { writes[name] }

  /// Whether a value is still the one to be written under its name.
  func isCurrent(_ write: Write) -> Bool { writes[write.subject.name] === write }

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

  /// Adds a value, whose place is reserved, in the place of an earlier one of the name, which is
  /// never written.
  mutating func add(_ bytes: [UInt8], _ subject: DiskEngine.Subject, _ seal: EntryWriter.Seal) {
    drop(subject.name)
    lastSerial += 1
    let write = Write(bytes, subject, seal, serial: lastSerial)
    writes[subject.name] = write
    queue.append(write)
  }

  /// Forgets the value of a name.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  mutating func drop(_ name: EntryName) -> Bool {
    guard !writes.isEmpty, let write = writes.removeValue(forKey: name) else { return false }
    byteCount -= write.bytes.count
    return true
  }

  /// The next value to be written, which stays until it is; nil when all have had their turn.
  mutating func next() -> Write? {
    while first < queue.count {
      let write = queue[first]
      first += 1
      if isCurrent(write) { return write }
    }
    queue = []
    first = 0
    return nil
  }

  /// Whether a value that was accepted no later than a serial number still waits.
  func holdsAny(upTo serial: UInt64) -> Bool {
    writes.values.contains { $0.serial <= serial }
  }
}
