import LarderBasics
import LarderSystem

/// Reads of a value that waits in the backlog. They are answered from its bytes, so a reader
/// neither writes nor waits for room and never meets the older file.
///
/// A value leaves the backlog in the same step in which its file enters the index, so a reader that
/// finds none waiting finds its file or a newer one. A direct store and a removal drop the value of
/// their name only after the file was changed, and until then other readers find that value. So a
/// reader that finds none looks again after it has opened the file: one may have been accepted
/// since, and the file be that of the store or removal that is about to drop it.
extension DiskEngine {
  /// Returns the value that waits under a name.
  func pending(_ name: EntryName) -> Backlog.Value? {
    guard mayBe(.hasBacklog) else { return nil }
    return withState { $0.backlog[name] }
  }

  /// Returns the value that waits under a name, of which none was waiting at the time of a
  /// snapshot.
  func pending(
    _ name: EntryName, since generation: EntryGenerations.Snapshot?
  ) -> Backlog.Value? {
    guard mayBe(.hasBacklog), generation.map(generations.isCurrent) != true else { return nil }
    return pending(name)
  }

  /// The value of a key, without its content.
  enum Presence: Sendable {
    /// It waits to be written.
    case pending(Backlog.Value)
    case written(Inspection)
  }

  /// Looks for the value of a key. Does not count as a use. Returns nil if a read would miss, as
  /// far as that shows without the content.
  ///
  /// - Parameter staleness: The time past its expiry for which a value is still found.
  func lookUp(
    _ subject: Subject, staleness: Duration = .zero
  ) throws(CacheError) -> Presence? {
    let generation = generations.snapshot(of: subject.name)
    var (value, inspection) = (pending(subject.name), Inspection?.none)
    if value == nil {
      followReplacement()
      inspection = try countingErrors { () throws(CacheError) in
        try inspect(subject, staleness: staleness)
      }
      value = pending(subject.name, since: generation)
    }
    guard let value else { return inspection.map(Presence.written) }
    let time = now.adding(.zero - staleness)
    return value.isServed(to: subject.key, at: time) ? .pending(value) : nil
  }

  /// Answers a read with a value that waits.
  func found(
    _ value: Backlog.Value, _ expiry: Timestamp, for purpose: ReadPurpose,
    _ generation: EntryGenerations.Snapshot?
  ) throws(CacheError) -> Found {
    let (bytes, seal) = (value.write.bytes, value.write.seal)
    var file: FileDescriptor?
    if purpose == .file {
      file = try attempt(
        "read", at: value.write.subject.name.description,
        FileDescriptor.inMemory(bytes.span, faults: configuration.faults))
    }
    return Found(
      descriptor: file, byteCount: bytes.count, lastAccess: value.lastAccess, bytes: bytes,
      extendedData: seal.extendedData, expiry: expiry, lifetime: seal.lifetime,
      generation: generation)
  }
}

extension EngineState {
  /// Takes the waiting value of a name out of the backlog, because the file of a store is in place.
  ///
  /// - Returns: The stored value with its last uses, if it came from the backlog.
  mutating func takeOutPending(_ request: DiskEngine.StoreRequest) -> Backlog.Value? {
    if let write = request.write { return backlog.finishTurn(of: write, isWritten: true) }
    backlog.drop(request.subject.name)
    return nil
  }

  /// The backlog's answer to a read.
  enum PendingAnswer: Sendable {
    /// No value waits under the name: its file answers.
    case none
    /// The waiting value has expired or is of another key. It is what the file will hold.
    case missed
    /// The value as it was before this use, and the expiry with the extension by it.
    case found(Backlog.Value, expiry: Timestamp)
  }

  /// Answers a read with the value that waits under its name, and counts the use. The use is
  /// written to the disk with the value.
  mutating func answerPending(
    _ subject: DiskEngine.Subject, _ context: DiskEngine.ReadContext, _ recency: Recency
  ) -> PendingAnswer {
    guard let value = backlog[subject.name] else { return .none }
    guard value.isServed(to: subject.key, at: context.now.adding(.zero - context.staleness)) else {
      counters.countMiss(value.write.subject.key == subject.key ? .expired : .otherKey)
      return .missed
    }
    counters.countHit(of: UInt64(value.write.bytes.count))
    let seal = value.write.seal
    var extended: Timestamp?
    // As with a file: a use too soon after the store extends nothing, and an expired value is not
    // extended.
    let stored = min(seal.lastAccess, context.now)
    if context.staleness == .zero,
      recency.isDue(
        stored: stored, now: context.now, lifetime: seal.lifetime, context.extending)
    {
      extended = context.extending.extendedExpiry(
        of: value.expiry, lifetime: seal.lifetime, at: context.now)
    }
    backlog.use(value.write, at: catalog.uses.issueAccess(at: context.now), expiry: extended)
    return .found(value, expiry: extended ?? value.expiry)
  }
}

extension DiskEntry {
  /// Makes the entry that a value will be when it is written. It has no blocks on the disk yet.
  init(_ value: Backlog.Value) {
    let seal = value.write.seal
    self.init(
      name: value.write.subject.name.description, key: seal.key,
      byteCount: value.write.bytes.count, allocatedByteCount: 0, lastAccess: value.lastAccess,
      expiry: value.expiry < .never ? value.expiry : nil,
      lifetime: RecordedLifetime(seal.lifetime), extendedData: seal.extendedData)
  }
}
