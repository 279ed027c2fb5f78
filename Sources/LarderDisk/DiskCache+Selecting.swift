public import LarderBasics
import LarderSystem

extension DiskCache {
  /// Returns all entries, including expired ones, as of a walk through the directory now. Does not
  /// count as use. An entry that cannot be opened is included, with `isReadable` false.
  ///
  /// - Parameter byUse: Whether the least recently used entry comes first, also by uses that have
  ///   not reached the disk. The default is false: the entries are in the order of their names.
  /// - Throws: `CacheError`: `.directoryMissing`, `.permissionDenied`, `.resourcesExhausted`,
  ///   `.unsafeDirectory`, `.locked`, `.closed`, `.forked`, `.io`.
  /// - Complexity: O(n log n); opens every file to learn its key.
  public func entries(byUse: Bool = false) throws(CacheError) -> [DiskEntry] {
    let entries = try entries { _, _ in }
    guard byUse else { return entries }
    // The index knows of uses that have not reached the disk.
    let index = engine.entryIndex
    return entries.map { entry in
      let known = EntryName(Array(entry.name.utf8)).flatMap { index.entry(named: $0) }
      return (entry: entry, use: max(known?.lastAccess ?? entry.lastAccess, entry.lastAccess))
    }
    .sorted { ($0.use, $0.entry.name) < ($1.use, $1.entry.name) }.map(\.entry)
  }

  /// Returns the keys that files record, those of expired entries included, the least recently used
  /// first. Does not count as use.
  ///
  /// Entries that record no key are left out, as most URLs' on ext4 are by default (`recordKeys`);
  /// `entries().count { $0.key == nil }` says how many.
  ///
  /// - Throws: `CacheError`, as `entries(byUse:)` does.
  /// - Complexity: O(n log n); opens every file to learn its key.
  public func keys() throws(CacheError) -> [CacheKey] {
    try entries(byUse: true).compactMap(\.key)
  }

  /// Removes a value and returns it; nil if there was none that is valid.
  ///
  /// The returned value is the removed one, because no store of this process comes between. Counts
  /// neither as a hit nor as a miss.
  ///
  /// - Throws: `CacheError`, as `remove(forKey:)` does. An unreadable value is removed as well.
  /// - Complexity: O(bytes).
  @discardableResult
  public func removeValue(forKey key: some CacheKeyConvertible) throws(CacheError) -> [UInt8]? {
    try take(subject(key)) {}
  }

  /// Removes the entries that a closure chooses, including expired ones, and waits for the end.
  ///
  /// ```swift
  /// try await cache.removeAll { $0.byteCount > 1 << 20 }
  /// ```
  ///
  /// The `key` of an entry is nil if its file does not record it, as for most URLs on ext4 by
  /// default; `unknownKeys` counts these. Joined keys are recorded for `removeVariants(of:)`.
  ///
  /// An entry that is stamped, changed or stored anew after the closure was called for it stays and
  /// is not counted. What a `Cache` loads for a removed entry meanwhile is not stored. Goes on past
  /// a failure.
  ///
  /// - Parameter isChosen: Called for each entry, in the order of their names and without a lock.
  /// - Throws: `CacheError`, as `removeAllInBackground()`, and the error of reading the directory.
  /// - Complexity: O(n log n); opens every file to learn its key.
  @discardableResult
  public func removeAll(where isChosen: (DiskEntry) -> Bool) throws(CacheError) -> BulkRemoval {
    try checkWritable("removeAll")
    return try engine.countingErrors { () throws(CacheError) in
      var unknownKeys = 0
      var removal = try removeEntries { look in
        if look.key == nil { unknownKeys += 1 }
        return isChosen(entry(look))
      }
      removal.unknownKeys = unknownKeys
      return removal
    }
  }

  /// Removes the value of a key and of all its variants, which are all keys that
  /// `CacheKey(_:variant:)` or `CacheKey(joining:)` makes of it and more parts.
  ///
  /// The files of variants record their keys, unless the configuration's `recordKeys` was `.never`
  /// or a key has more than 2,000 bytes. Variants of unrecorded keys stay; the value of the key
  /// itself goes even then. What a `Cache` is loading for any of these keys is not stored.
  ///
  /// - Throws: `CacheError`, as `removeAll(where:)` does.
  /// - Complexity: O(n log n); opens every file to learn its key.
  @discardableResult
  public func removeVariants(of key: some CacheKeyConvertible) throws(CacheError) -> BulkRemoval {
    try checkWritable("removeAll")
    let subject = subject(key)
    return try engine.countingErrors { () throws(CacheError) in
      let loads = engine.observers.supersedeLoads { $0.key.isVariant(of: subject.key) }
      // A load that was being stored is accepted when its name is free, and the walk finds it.
      for load in loads { engine.changing(load.name) { _ in } }
      defer { engine.tell(.variantsRemoved(of: subject.key)) }
      return try removeEntries(evenIfUsed: true) { $0.isVariant(of: subject) }
    }
  }

  /// Removes the entries that a closure chooses. A value that waits was accepted since the closure
  /// judged the entry of its name, which stays then.
  private func removeEntries(
    evenIfUsed: Bool = false, where isChosen: (EntryLook) -> Bool
  ) throws(CacheError) -> BulkRemoval {
    try engine.revalidate(isUrgent: true, mayMake: true, "removeAll")
    behind?.writeAll()
    // A use that is stamped later would look like one that came after the closure was called.
    engine.drainStamps()
    var removal = BulkRemoval()
    try forEachEntry { look in
      guard let status = look.status, isChosen(look) else { return }
      removal.add(
        engine.remove(look.name, judged: status, evenIfUsed: evenIfUsed, .chosen(look.key)) {
          behind?[look.name] != nil
        })
    }
    // Loads of other processes may have begun before the removal of what is chosen.
    engine.overtake(nil)
    // Also if nothing was removed here, as after a removal by key.
    try attempt("removeAll", at: directory, engine.synchronizeRemovals())
    return removal
  }

  /// Removes a value and returns it. Looks before the memory tiers are told, with the name held.
  package func take(_ subject: Subject, _ look: () -> Void) throws(CacheError) -> [UInt8]? {
    try checkUsable("remove")
    return try engine.countingErrors { () throws(CacheError) in
      var bytes: [UInt8]?
      _ = try remove(subject.name, subject) { isFree in
        look()
        if isFree { return }
        guard let value = behind?[subject.name] else { return bytes = bytesOfHeld(subject) }
        bytes = value.isServed(to: subject.key, at: engine.heldNow) ? value.write.bytes : nil
      }
      return bytes
    }
  }

  /// Returns the value of a key whose name is held; nil if it cannot be read.
  private func bytesOfHeld(_ subject: Subject) -> [UInt8]? {
    do throws(CacheError) {
      return try engine.heldValue(of: subject, for: .value)?.content
    } catch {
      return nil
    }
  }
}

extension EntryLook {
  /// Whether the file is of a key or of a variant of it, as far as it proves its key, as a read
  /// takes it: without a proof, by its name.
  fileprivate func isVariant(of base: Subject) -> Bool {
    if let key { return key.isVariant(of: base.key) }
    let proof = attribute?.proof ?? .none
    return name.digest == base.name.digest && base.key.withBytes(proof.admits)
  }
}
