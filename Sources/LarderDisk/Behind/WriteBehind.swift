import LarderBasics
import LarderSystem
import Synchronization

/// The layer between `DiskCache` and `DiskEngine` that accepts values at once and has another
/// thread write them. The objects on one directory share it, so they read each other's values. It
/// is nil where nothing is written behind.
///
/// The engine knows nothing of values that wait, except in step 5. The layer holds their names in
/// it, and passes it callbacks:
///
/// 1. `store` adds a value to the table with the name held, and tells the memory tiers. The hold
///    moves the name's generation. From then on reads are answered from the table, and neither
///    write nor meet the older file.
/// 2. Another thread stores the value (`WriteBehind+Writing.swift`). `isWanted` gives up a value
///    that is no longer current.
/// 3. `onSettled` ends its turn with the name held, when the index has its file: a reader that
///    finds no value finds its file or a newer one.
/// 4. A direct store or a removal drops the values of the name in its own `onSettled`, after the
///    file was replaced or removed and before the name is free. If it fails, they stay, because the
///    file is older. A reader that finds no value looks again after it has opened the file
///    (`mayHaveNewer`), which may be that of a change which is about to drop a newer value.
/// 5. A removal of everything hides all values in the step in which it hides all files. They come
///    back if an older file cannot be removed, and are counted at its end.
///
/// The table's lock is taken before the engine's where both are needed, and never the other way
/// round. No clock of the caller's is read with a name held or a lock taken.
final class WriteBehind: Sendable {
  let engine: DiskEngine
  /// The most bytes of values that wait.
  let limit: Int
  private let table = ForkSafeMutex(Backlog())
  /// The event that is signalled when a value was written, dropped or put back.
  let changed = EventCount()
  /// Whether the table has values, so that a read takes no lock while it has none.
  private let holdsValues = Atomic<Bool>(false)

  init(_ engine: DiskEngine, limit: Int) {
    self.engine = engine
    self.limit = limit
  }

  /// Reads or changes the table under its lock.
  func withTable<Result: Sendable>(_ body: (inout Backlog) -> Result) -> Result {
    let (result, _) = table.withLock { table in
      defer {
        // Stored under the lock, so that an earlier value cannot overwrite a later one.
        let holds = !table.isEmpty || !table.hidden.isEmpty || !table.writers.isEmpty
        if holdsValues.load(ordering: .relaxed) != holds {
          holdsValues.store(holds, ordering: .releasing)
        }
      }
      return (body(&table), table.takeSpent())
    }
    return result
  }

  /// Waits until the table fulfils a condition, which is checked after every signal of `changed`.
  func wait<Result: Sendable>(for condition: (inout Backlog) -> Result?) -> Result {
    changed.wait { withTable(condition) }
  }

  /// Whether the table had values, or hid some, at some moment during the call.
  var mayHoldValues: Bool { holdsValues.load(ordering: .acquiring) }

  /// The value that waits under a name.
  subscript(name: EntryName) -> Backlog.Value? { mayHoldValues ? withTable { $0[name] } : nil }

  /// Whether a file that was opened since a snapshot may be older than a value: one was accepted
  /// meanwhile, or has come back and may be written by now.
  ///
  /// - Parameter wasHidden: Whether a value was hidden when none was found. If it still is, the
  ///   file is another process's, and waiting for the end of the removal would take long.
  func mayHaveNewer(
    _ name: EntryName, since generation: EntryGenerations.Snapshot?, _ wasHidden: Bool
  ) -> Bool {
    if generation.map(engine.generations.isCurrent) == true { return false }
    guard wasHidden || mayHoldValues else { return false }
    return withTable { $0[name] != nil || wasHidden && !$0.hides(name) }
  }
}

// Reading.
extension WriteBehind {
  /// Answers a read with the value that waits under its name, and counts the use. The use is
  /// written to the disk with the value.
  ///
  /// - Returns: Nil if none waits, so that the file answers; `isHidden` says whether one is hidden.
  ///   Nil inside for a miss: the value has expired or is another key's, and is what the file will
  ///   hold.
  func answer(
    _ subject: Subject, for purpose: ReadPurpose, _ context: ReadContext, _ isHidden: inout Bool
  ) throws(CacheError) -> FoundValue?? {
    let used = withTable { use(subject, context, &isHidden, in: &$0) }
    guard let (value, expiry) = used else { return .none }
    guard let expiry else { return .some(nil) }
    let (bytes, seal) = (value.write.bytes, value.write.seal)
    var file: FileDescriptor?
    if purpose == .file {
      file = try attempt(
        "read", at: subject.name.description,
        FileDescriptor.inMemory(bytes.span, faults: engine.configuration.faults))
    }
    return FoundValue(
      descriptor: file, byteCount: bytes.count, lastAccess: value.lastAccess, bytes: bytes,
      extendedData: seal.extendedData, expiry: expiry, lifetime: seal.lifetime,
      generation: context.generation)
  }

  /// - Returns: The value before this use, and the expiry with the extension by it; nil for a miss.
  private func use(
    _ subject: Subject, _ context: ReadContext, _ isHidden: inout Bool, in table: inout Backlog
  ) -> (value: Backlog.Value, expiry: Timestamp?)? {
    guard let value = table[subject.name] else {
      isHidden = table.hides(subject.name)
      return nil
    }
    let seal = value.write.seal
    guard value.isServed(to: subject.key, at: context.now.adding(.zero - context.staleness)) else {
      engine.count { $0.countMiss(seal.key == subject.key ? .expired : .otherKey) }
      return (value, nil)
    }
    // As with a file: a use too soon after the store extends nothing, unless by more than the lag.
    var extended = context.extending.extendedExpiry(
      of: value.expiry, lifetime: seal.lifetime, at: context.now)
    let lag = engine.recency.dueLag(
      stored: seal.lastAccess, now: context.now, lifetime: seal.lifetime, context.extending,
      expiry: value.expiry, extended: extended, owner: engine.recency.user)
    if lag == nil { extended = nil }
    let access = engine.withState { state in
      state.counters.countHit(of: UInt64(value.write.bytes.count))
      return state.catalog.issueAccess(
        of: subject.name, stored: value.lastAccess, at: context.now)
    }
    table.use(subject.name, at: access, expiry: extended)
    return (value, extended ?? value.expiry)
  }
}

// Changes that the engine makes at once.
extension WriteBehind {
  /// Returns the callback of a store or removal that drops the values of its name.
  func dropping(_ name: EntryName) -> @Sendable (FileStatus?) -> Bool {
    { [self] _ in
      guard mayHoldValues, withTable({ $0.drop(name) }) else { return false }
      changed.signal()
      return true
    }
  }

  /// Stores a value unless there is one, as `DiskEngine.store` does. A waiting value counts as
  /// present. One that has expired or belongs to another key is written first: then only a file can
  /// make the store fail.
  func storeIfAbsent(
    _ content: Span<UInt8>, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    let (key, name) = (request.subject.key, request.subject.name)
    if let value = self[name], !value.isServed(to: key, at: engine.now) { writeAll(of: name) }
    var request = request
    request.isWanted = { [self] in self[name] == nil }
    return try engine.store(content, request)
  }

  /// Touches an entry as `DiskEngine.touch` does, after its value was written, because the seal of
  /// a waiting value cannot be changed.
  func touch(
    _ request: StoreRequest, revives: Bool, _ identity: EntryIdentity?
  ) throws(CacheError) -> Bool {
    let name = request.subject.name
    var held = request
    held.isWanted = { [self] in self[name] == nil && request.isWanted?() != false }
    var isSecondLook = false
    while true {
      writeAll(of: name)
      if try engine.touch(held, revives: revives, identity) { return true }
      // Another value may have been accepted after that one was written, and be written by now.
      if self[name] == nil, exchange(&isSecondLook, with: true) { return false }
    }
  }
}

// Removals of everything.
extension WriteBehind {
  /// Hides all values in one step with the files.
  ///
  /// - Parameter hideFiles: Hides all files; returns nil if that cannot be done yet.
  /// - Returns: Nil if nothing was hidden, and the removal waits.
  func hide<Result: Sendable>(with hideFiles: () -> Result?) -> Result? {
    let result = withTable { table in
      // The hidden values stay in memory until the removal's end, so their cost has a limit.
      guard table.hiddenCost <= limit, let result = hideFiles() else { return Result?.none }
      table.hide()
      return result
    }
    // There is room now.
    changed.signal()
    return result
  }

  /// Puts a value back whose file could not be removed and is about to be an entry again, unless a
  /// removal after the one with this number has begun; with nil, all values that are left.
  func filesStay(_ name: EntryName?, since count: Int) {
    for name in name.map({ [$0] }) ?? hiddenNames {
      withTable { table in
        let isHidden = engine.clearCount == count && engine.hidesFile(named: name)
        if isHidden, let write = table.takeHidden(name) { table.add(write) }
      }
      // After it is back: a reader that missed it meanwhile must not keep the older file's value.
      engine.generations.outdateReaders(of: name)
    }
  }

  /// Ends a removal, whose files are hidden no more.
  ///
  /// - Returns: The values that are gone and had no file.
  func endClearing() -> BulkRemoval {
    var result = BulkRemoval()
    for name in hiddenNames { withTable { $0.supersede(name) } }
    for (subject, byteCount) in withTable({ exchange(&$0.superseded, with: [:]) }).values {
      result.removed += 1
      result.byteCount.addSaturating(UInt64(byteCount))
      engine.count { $0.countRemoval(.explicit) }
      engine.removals.tell(subject.name, key: subject.key, .explicit)
    }
    changed.signal()
    // Called with no name held and nothing hidden, because this thread writes the values itself if
    // the system has no thread left, and a store waits for room while files are hidden.
    startWriterIfNeeded()
    return result
  }

  /// The names of hidden values.
  private var hiddenNames: [EntryName] {
    withTable(\.hidden).flatMap { $0.names(in: 0..<$0.slotCount) }
  }
}
