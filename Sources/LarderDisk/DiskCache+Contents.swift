public import LarderBasics
import LarderSystem

extension DiskCache {
  /// Returns the bytes of all values, also of expired ones until a sweep. Waits for the first scan.
  ///
  /// - Parameter measure: The lengths of the values, or the blocks that the file system set aside
  ///   for them: those count attributes outside of the inode as well, as `du` does.
  /// - Complexity: O(1) after the first scan.
  /// - Throws: `CacheError`, as `entries(byUse:)` does, and what the scan met.
  public func totalSize(_ measure: SizeMeasure = .bytes) throws(CacheError) -> Int {
    Int(clamping: measure.of(try totals("totalSize")))
  }

  /// Returns the number of entries, with expired ones not yet swept. Waits for the first scan.
  ///
  /// - Complexity: O(1) after the first scan.
  /// - Throws: `CacheError`, as `entries(byUse:)` does, and what the scan met.
  public func count() throws(CacheError) -> Int { try totals("count").count }

  /// Returns the totals once the index is complete and no purge goes on.
  private func totals(_ operation: String) throws(CacheError) -> IndexTotals {
    try checkWhole(operation)
    try engine.countingErrors { () throws(CacheError) in try engine.waitForScan(operation) }
    engine.finishPurge()
    return engine.entryIndex.totals
  }

  /// Returns the path of the file that holds, or would hold, the value of a key.
  ///
  /// The path follows from the key alone: nothing is looked up, and the cache may be closed.
  ///
  /// - Complexity: O(bytes of the key), for its digest.
  public func path(forKey key: some CacheKeyConvertible) -> String { path(of: subject(key).name) }

  /// Returns the path of the file of a name.
  package func path(of name: EntryName) -> String { "\(directory)/\(name)" }

  /// Returns the entry of a key without its value; nil if a read would find none. Counts no use.
  ///
  /// For a value that waits to be written it returns the entry that its file will be;
  /// `allocatedByteCount` is 0, because no blocks are set aside yet.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - allowingExpired: Whether an expired entry is returned too, for as long as its file is
  ///     there. The default is false.
  /// - Complexity: O(1): reads status and attributes, not the content.
  /// - Throws: `CacheError`, as `value(forKey:extending:)` does.
  public func entry(
    forKey key: some CacheKeyConvertible, allowingExpired: Bool = false
  ) throws(CacheError) -> DiskEntry? {
    try checkUsable("entry")
    return try entry(
      of: subject(key), staleness: allowingExpired ? ReadContext.anyStaleness : .zero)
  }

  /// Returns the entry of a key, which is that of a value that waits, or as `lookUp` finds it.
  func entry(of subject: Subject, staleness: Duration) throws(CacheError) -> DiskEntry? {
    while true {
      let generation = engine.generations.snapshot(of: subject.name)
      let found = (behind?.mayHoldValues == true ? behind : nil)?.withTable {
        (value: $0[subject.name], isHidden: $0.hides(subject.name))
      }
      if let value = found?.value {
        let time = engine.now.adding(.zero - staleness)
        return value.isServed(to: subject.key, at: time) ? DiskEntry(value) : nil
      }
      let look = try lookUp(subject, staleness: staleness)
      let isHidden = found?.isHidden == true
      if behind?.mayHaveNewer(subject.name, since: generation, isHidden) == true { continue }
      return look.map(entry)
    }
  }

  /// Looks for the entry of a key, and counts an error. Returns nil if a read would miss, as far as
  /// that shows without the content. Does not count as a use.
  ///
  /// - Parameter staleness: The time past its expiry for which an entry is still found.
  private func lookUp(_ subject: Subject, staleness: Duration) throws(CacheError) -> EntryLook? {
    engine.followReplacement()
    return try engine.countingErrors { () throws(CacheError) in
      guard let look = try look(at: subject.name), look.isReadable, let status = look.status,
        engine.reader.missReason(for: look.reading, isRemnant: look.isRemnant, subject.key) == nil
      else { return nil }
      let time = engine.now.adding(.zero - staleness)
      return engine.missReason(for: status, of: subject.name, at: time) == nil ? look : nil
    }
  }

  /// Returns the entry of a look, with the expiry that a use has moved but not yet on the disk.
  func entry(_ look: EntryLook) -> DiskEntry {
    var entry = DiskEntry(look)
    let moved = look.status.flatMap { engine.pendingExpiry(of: look.name, $0) }
    if let moved { entry.expiry = moved < .never ? moved : nil }
    return entry
  }

  /// Returns all entries in the order of their names, and tells of each look.
  package func entries(reporting progress: WalkProgress) throws(CacheError) -> [DiskEntry] {
    try checkWhole("entries")
    return try engine.countingErrors { () throws(CacheError) in
      var entries: [DiskEntry] = []
      try forEachEntry(reporting: progress) { entries.append(entry($0)) }
      return entries
    }
  }

  /// Counts the contents of the directory by walking through it, without opening a file.
  ///
  /// The counts are of the files on the disk and not of the index. They include entries that this
  /// process has removed from its index and whose files are still there.
  ///
  /// - Complexity: O(n), with one system call per name.
  /// - Throws: `CacheError`, as `entries(byUse:)` does.
  public func survey() throws(CacheError) -> DirectorySurvey {
    try checkWhole("survey")
    return try engine.countingErrors { () throws(CacheError) in
      var survey = DirectorySurvey()
      let now = engine.now
      try walk("survey", readsStatus: true) { survey.add($0, now: now) }
      survey.hasTag = try hasTag("survey")
      return survey
    }
  }

  /// Compares every entry with its hash and name, and removes the damaged ones if asked to. An
  /// entry that cannot be read is not damaged and stays, as does a sparse file of more bytes than
  /// the process could hold, which is not read to its end.
  ///
  /// - Parameters:
  ///   - repairs: Whether damaged entries are removed. The default is false.
  ///   - progress: Is called after each entry with the number of entries that are done and of all.
  ///
  /// Reads every entry's content, even if it was checked before. Does not count as use.
  ///
  /// - Throws: `CacheError`: `.readOnly` for repairs in a cache that only reads; others as
  ///   `entries(byUse:)` does.
  /// - Complexity: O(bytes of all values), in constant memory except for the names.
  public func verify(
    repairs: Bool = false, _ progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws(CacheError) -> Verification {
    try verify(
      repairs: repairs,
      reporting: { done, total in
        if let total { progress(done, total) }
      })
  }
}

extension DiskEntry {
  /// Makes an entry from a look at its file.
  package init(_ look: EntryLook) {
    let expiry = look.status?.modification.asExpiry ?? .never
    self.init(
      name: look.name.description, key: look.key,
      keyHint: look.attribute?.proof.hintForDisplay,
      byteCount: Int(clamping: look.status?.byteCount ?? 0),
      allocatedByteCount: Int(clamping: look.status?.allocatedByteCount ?? 0),
      lastAccess: look.status?.lastAccess ?? Timestamp(seconds: 0),
      expiry: expiry < .never ? expiry : nil,
      lifetime: look.attribute.flatMap { Expiration($0.lifetime, until: expiry) },
      extendedData: look.extendedData, isReadable: look.isReadable)
  }

  /// Makes the entry that a value will be when it is written. It has no blocks on the disk yet.
  fileprivate init(_ value: Backlog.Value) {
    let seal = value.write.seal
    self.init(
      name: value.write.subject.name.description, key: seal.key,
      byteCount: value.write.bytes.count, allocatedByteCount: 0, lastAccess: value.lastAccess,
      expiry: value.expiry < .never ? value.expiry : nil,
      lifetime: Expiration(seal.lifetime, until: seal.expiry), extendedData: seal.extendedData)
  }
}
