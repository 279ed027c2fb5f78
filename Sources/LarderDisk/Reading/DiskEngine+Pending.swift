import LarderBasics
import LarderSystem

/// How a value that waits in the backlog answers: from its bytes, so that a reader neither writes
/// nor waits for room, and never meets the older file.
///
/// A value waits until its file is in place, and both are seen in one look at the state: who finds
/// none waiting finds its file, or a newer one.
extension DiskEngine {
  /// The value that waits under a name.
  func pending(_ name: EntryName) -> Backlog.Value? {
    guard mayBe(.hasBacklog) else { return nil }
    return withState { $0.backlog[name] }
  }

  /// Answers a read with a value that waits.
  func found(
    _ value: Backlog.Value, _ expiry: Timestamp, for purpose: ReadPurpose,
    _ generation: EntryGenerations.Snapshot?
  ) throws(CacheError) -> Found {
    let (bytes, seal) = (value.write.bytes, value.write.seal)
    var file: FileDescriptor?
    if purpose == .file {
      do throws(Errno) {
        file = try FileDescriptor.inMemory(bytes.span, faults: configuration.faults)
      } catch {
        throw CacheError(readFailure: error, name: value.write.subject.name.description)
      }
    }
    return Found(
      descriptor: file, byteCount: bytes.count, lastAccess: value.lastAccess, bytes: bytes,
      extendedData: seal.extendedData, expiry: expiry, lifetime: seal.lifetime,
      generation: generation)
  }
}

extension EngineState {
  /// Ends what waits under the name of a store whose file is in place.
  ///
  /// - Returns: The value from the backlog that was stored, with its last uses.
  mutating func settle(_ request: DiskEngine.StoreRequest) -> Backlog.Value? {
    if let write = request.write { return backlog.settle(write, isWritten: true) }
    backlog.drop(request.subject.name)
    return nil
  }

  /// The backlog's answer to a read.
  enum PendingAnswer: Sendable {
    /// No value waits under the name: its file answers.
    case none
    /// The value that waits is not the reader's, and it is what the file will be.
    case missed
    /// The value as it was before this use, and the expiry with the extension by it.
    case found(Backlog.Value, expiry: Timestamp)
  }

  /// Answers a read with the value that waits under its name, and counts the use. The use reaches
  /// the disk with the value.
  mutating func answerPending(
    _ subject: DiskEngine.Subject, _ use: DiskEngine.Use, _ recency: Recency
  ) -> PendingAnswer {
    guard let value = backlog[subject.name] else { return .none }
    guard value.isServed(to: subject.key, at: use.now.adding(.zero - use.staleness)) else {
      counters.countMiss(value.write.subject.key == subject.key ? .expired : .otherKey)
      return .missed
    }
    counters.countHit(of: UInt64(value.write.bytes.count))
    let seal = value.write.seal
    var extended: Timestamp?
    // As with a file: a use too soon after the store promises nothing new, and what has expired is
    // not brought back to life.
    let stored = min(seal.lastAccess, use.now)
    if use.staleness == .zero,
      recency.isDue(stored: stored, now: use.now, lifetime: seal.lifetime)
    {
      extended = use.extending.extendedExpiry(
        of: value.expiry, lifetime: seal.lifetime, at: use.now)
    }
    backlog.use(value.write, at: uses.issueAccess(at: use.now), expiry: extended)
    return .found(value, expiry: extended ?? value.expiry)
  }
}

extension DiskEntry {
  /// The entry that a value will be when it is written. Nothing is set aside for it yet.
  init(_ value: Backlog.Value) {
    let seal = value.write.seal
    self.init(
      name: value.write.subject.name.description, key: seal.key,
      byteCount: value.write.bytes.count, allocatedByteCount: 0, lastAccess: value.lastAccess,
      expiry: value.expiry < .never ? value.expiry : nil,
      lifetime: RecordedLifetime(seal.lifetime), extendedData: seal.extendedData)
  }
}
