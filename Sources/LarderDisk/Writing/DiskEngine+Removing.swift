package import LarderBasics
import LarderSystem

extension DiskEngine {
  /// Removes an entry, and what memory tiers hold of it even if its file cannot be removed.
  ///
  /// - Parameter request: The store that fails and therefore removes what it was to replace. What was
  ///   stored since it was decided on stays.
  /// - Returns: Whether this process's view had an entry there.
  func remove(
    _ subject: Subject, cause: RemovalCause, of request: StoreRequest? = nil
  ) throws(CacheError) -> Bool {
    // A write that fails leaves whom to tell to who notes the loss.
    if request?.write != nil {
      return try remove(subject.name, key: subject.key, cause: cause, of: request)
    }
    return try remove(subject.name, key: subject.key, cause: cause, of: request) {
      tellObservers(subject, except: nil)
    }
  }

  /// Removes the entry of a name.
  ///
  /// - Parameters:
  ///   - request: The store that was to take the entry's place. When something newer has, that
  ///     stays.
  ///   - whileHeld: Runs before the removal and after it, before any other change of the name.
  package func remove(
    _ name: EntryName, key: CacheKey? = nil, cause: RemovalCause,
    of request: StoreRequest? = nil, whileHeld: () -> Void = {}
  ) throws(CacheError) -> Bool {
    try checkWritable("remove")
    try revalidate(toRemove: name, of: request, whileHeld)
    acquire(name)
    defer { release(name) }
    if let request, isOutdated(request) { return false }
    try checkMayChange(request, "remove")
    // Before the file goes too: who misses it on the disk must not meet it in memory after that.
    whileHeld()
    defer { whileHeld() }
    let wasHidden = withState { $0.hidesFile(named: name) }
    do throws(Errno) {
      let handle = location.handle
      let isRemoved = try unlinkEntry(name.fileName, in: handle)
      let (told, wasPending) = withState { state -> (RemovalCause?, Bool) in
        // A victim was counted when it was chosen, which may be since the look above.
        let victim = state.doomed[name]
        state.noteRemoved(name)
        // Not before the file is gone: if it stayed, it would be found again, and it is older.
        let wasPending = request?.write == nil && state.backlog.drop(name)
        let isCounted = isRemoved && !wasHidden && victim == nil || wasPending
        if isCounted { state.counters.countRemoval(cause) }
        if wasPending { return (cause, true) }
        return (isRemoved ? victim?.cause ?? (isCounted ? cause : nil) : nil, false)
      }
      if let told { tellOfRemoval(name, key: key, told) }
      // Also if the file was gone already: the evictor or another process may have unlinked it and
      // not have synced the directory yet.
      if configuration.durability == .durable { try handle.descriptor.synchronize() }
      return isRemoved && !wasHidden || wasPending
    } catch {
      throw CacheError(errno: error, operation: "remove", path: "\(location.path)/\(name)")
    }
  }

  /// Throws where the last object is being closed and nothing may begin to change any more. Asked
  /// while the name is held: the end waits for who holds one. What the backlog had accepted before
  /// is written all the same.
  func checkMayChange(_ request: StoreRequest?, _ operation: String) throws(CacheError) {
    guard request?.write == nil, withState({ $0.phase.isEnding }) else { return }
    throw CacheError(.closed, operation: operation, path: location.path)
  }

  /// Sees that the directory that is held is the one at the path, before the name is held: what
  /// follows from a replacement may take other names. Where that cannot be, memory forgets the
  /// value all the same.
  private func revalidate(
    toRemove name: EntryName, of request: StoreRequest?, _ whileHeld: () -> Void
  ) throws(CacheError) {
    do throws(CacheError) {
      try revalidate(isUrgent: false, mayMake: false, "remove")
    } catch {
      changing(name) {
        if request.map(isOutdated) != true { whileHeld() }
      }
      throw error
    }
  }

  /// Unlinks the file of an entry; false when there is none. What else has the name stays.
  private func unlinkEntry(
    _ name: FileName, in handle: DirectoryHandle
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      let status = try handle.status(of: name)
      guard status.isRegular, reader.trust.isTrusted(status) else { return false }
      try handle.unlink(name)
      return true
    } catch .noSuchFile, .staleHandle {
      return false
    }
  }

  /// What became of a file that was to be unlinked.
  enum Unlinking: Sendable {
    case removed
    /// No file has the name: somebody was quicker.
    case absent
    /// The file is not the one that was judged: somebody used, changed or replaced it. It stays.
    case changed(FileStatus)
  }

  /// Unlinks the file of a name, which the caller holds, if it is still the one that was judged.
  ///
  /// Every store, stamp and use changes inode or change time. There is no unlink by descriptor:
  /// what another process stores between the check and the unlink is lost as if evicted.
  func unlink(
    _ name: EntryName, inode: UInt64, changeTime: Timestamp, in handle: DirectoryHandle
  ) throws(Errno) -> Unlinking {
    do throws(Errno) {
      let status = try handle.status(of: name.fileName)
      guard status.inode == inode && status.change == changeTime else { return .changed(status) }
      try handle.unlink(name.fileName)
      return .removed
    } catch .noSuchFile, .staleHandle {
      return .absent
    }
  }

  /// What is known of a file that was found to be another than judged; nil when it is no entry.
  func entry(_ name: EntryName, _ status: FileStatus) -> IndexedEntry? {
    guard status.isRegular, reader.trust.isTrusted(status) else { return nil }
    return IndexedEntry(name: name, status: status)
  }

  /// Removes a file in the background if it is still the one that was judged.
  ///
  /// - Parameter generation: The state of the name before the file was opened.
  func removeInBackground(
    _ name: EntryName, _ status: FileStatus, cause: RemovalCause,
    seenAt generation: EntryGenerations.Snapshot?
  ) {
    let isCurrent = generation.map(generations.isCurrent) ?? false
    // Names share counters: where another's change moved this one's, the disk tells whether the
    // file is still there. Without a look, what one reader in a thousand judges would stay.
    guard isCurrent || isStanding(name, status) else { return }
    let victim = Victim(IndexedEntry(name: name, status: status)).counted(as: cause)
    withState { state in
      // The judged file may have been replaced meanwhile; then the index knows the newer one.
      if let known = state.index.entry(named: name), known.inode != status.inode { return }
      // Another reader may have judged it already.
      if state.hidesFile(named: name) || state.phase.isShutDown { return }
      state.index.remove(name)
      state.counters.countRemoval(cause)
      state.startEviction(victim)
    }
    runEvictor()
  }

  /// Whether a name still leads to the very file that was judged.
  private func isStanding(_ name: EntryName, _ status: FileStatus) -> Bool {
    do throws(Errno) {
      let present = try location.handle.status(of: name.fileName)
      return present.identity == status.identity && present.change == status.change
    } catch {
      return false
    }
  }

  /// Throws if the cache may not change its directory.
  func checkWritable(_ operation: String) throws(CacheError) {
    if isReadOnly {
      throw CacheError(.readOnly, operation: operation, path: location.path)
    }
  }
}
