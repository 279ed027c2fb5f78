import LarderBasics
import LarderSystem

/// A name that this thread holds: the only way to take an entry's file away.
///
/// Meanwhile no other thread of this process changes the file; another process may.
struct HeldName: ~Copyable {
  let name: EntryName
  /// The state of the directory and of the engine when the name was taken.
  let turn: NameLocks.Turn
}

extension HeldName {
  /// What a look at a file must show, so that the file goes.
  enum Judged {
    /// That it is an entry's.
    case entry
    /// The file that was judged. Every store, stamp and use changes the inode or the change time.
    ///
    /// On CephFS the change time can be the expiry, and a use that extends nothing moves the last
    /// access alone. `unusedSince` is the last use that the judgement knew; nil if a later one
    /// saves no file.
    case exactly(inode: UInt64, changeTime: Timestamp, unusedSince: Timestamp? = nil)
    /// The file that was met, whatever stamp, link, owner or attribute another process has given it
    /// since.
    case unwritten(IndexedEntry)

    static func exactly(_ status: FileStatus) -> Judged {
      .exactly(inode: status.inode, changeTime: status.change)
    }

    fileprivate func admits(_ status: FileStatus, _ trust: EntryTrust) -> Bool {
      switch self {
      case .entry: status.isRegular && trust.isTrusted(status)
      case .exactly(let inode, let changeTime, let lastUse):
        status.inode == inode && status.change == changeTime
          && !(lastUse.map { status.change == status.modification && status.lastAccess > $0 }
            ?? false)
      case .unwritten(let entry):
        status.inode == entry.inode
          && min(status.byteCount, IndexedEntry.maximumByteCount) == entry.byteCount
      }
    }
  }

  /// Unlinks the file if a look at it shows what was judged.
  ///
  /// There is no unlink by descriptor, so a value that another process stores between the look and
  /// the unlink is lost as if evicted.
  func unlink(
    _ judged: Judged, in handle: DirectoryHandle, trusting trust: EntryTrust
  ) throws(Errno) -> RemovalOutcome {
    do throws(Errno) {
      let status = try handle.status(of: name.fileName)
      guard judged.admits(status, trust) else {
        let isEntry = status.isRegular && trust.isTrusted(status)
        return .changed(isEntry ? IndexedEntry(name: name, status: status) : nil)
      }
      try handle.unlink(name.fileName)
      return .removed
    } catch .noSuchFile, .staleHandle {
      return .changed(nil)
    }
  }

  /// Removes the file if it is still the one that was judged, and never another one.
  ///
  /// A value that another process stores between a look and an unlink would be removed. So the file
  /// is moved aside first and looked at under a name that no other process uses. If it is not the
  /// judged file, it is moved back unless a newer one has come; a reader may miss it for that
  /// moment.
  ///
  /// The caller keeps the judged file open, so that no other file gets its inode number.
  ///
  /// - Returns: Whether it was removed; false if the name has no file or another one now.
  func withdraw(_ judged: FileStatus, in handle: DirectoryHandle) throws(Errno) -> Bool {
    // A directory could be moved aside but not removed.
    if judged.isDirectory { throw .isDirectory }
    guard let aside = try moveAside(in: handle) else { return false }
    let status = try handle.status(of: aside.fileName)
    // Another expiry shows that another process has touched the file.
    let isJudged =
      status.identity == judged.identity && status.modification == judged.modification
    do throws(Errno) {
      guard !isJudged else { throw .fileExists }
      try handle.renameExclusively(aside.fileName, to: name.fileName)
      aside.giveBack()
    } catch .fileExists {
      try aside.remove(in: handle)
    }
    return isJudged
  }

  /// Renames the file to a temporary name; nil if there is none.
  private func moveAside(in handle: DirectoryHandle) throws(Errno) -> TemporaryName? {
    while true {
      let aside = TemporaryName(in: handle)
      do throws(Errno) {
        try handle.renameExclusively(name.fileName, to: aside.fileName)
        return aside
      } catch .noSuchFile {
        aside.giveBack()
        return nil
      } catch .fileExists {
        // A process in another namespace shares the directory and this process's number, so the
        // next name is tried.
      }
    }
  }
}

/// A removal of the file of one entry, by which is decided what is counted and reported, and what
/// the memory tiers forget. A removal by key is `DiskEngine.remove(_:_:cause:)`.
///
/// | removal | counted, reported as | memory |
/// |---|---|---|
/// | `chosen` | explicit | forgets the key and the file, and supersedes loads, before and after |
/// | `damaged` | corrupt | forgets the file, before and after |
/// | `cleared` | explicit | is told as a whole; of a file that stays, now |
/// | `withdrawn` | explicit; counted before | forgets the file |
/// | `evicted` | evicted or expired | forgets the file for a trim, or if it was not removed here |
enum Removal: Sendable {
  /// The caller chose the entry by its file, which may record its key.
  case chosen(CacheKey?)
  /// The content is not what was stored.
  case damaged
  /// Everything is removed, and the walk has met this file. With the number of the removal.
  case cleared(IndexedEntry, count: Int)
  /// The file was published around the beginning of a removal of everything.
  case withdrawn(CacheKey)
  /// A plan chose the entry, at this epoch. With whether memory forgets the value as well. The
  /// value of an entry that a limit evicts may stay in memory for one granularity, because the disk
  /// does not know of uses there.
  case evicted(Victim, since: NameLocks.Epoch, isTold: Bool)

  var cause: RemovalCause {
    switch self {
    case .chosen, .cleared, .withdrawn: .explicit
    case .damaged: .corrupt
    case .evicted(let victim, _, _): victim.cause
    }
  }

  /// The key, as far as it is known.
  var key: CacheKey? {
    switch self {
    case .chosen(let key): key
    case .withdrawn(let key): key
    case .damaged, .cleared, .evicted: nil
    }
  }
}

/// The outcome of a removal.
enum RemovalOutcome: Sendable {
  case removed
  /// The file was used, changed or replaced since it was judged, and stays. With nil, another
  /// process has removed it.
  case changed(IndexedEntry?)
  /// The file stays, because it could not be removed.
  case failed

  /// Whether the file's blocks are free.
  var hasFreed: Bool {
    switch self {
    case .removed, .changed(nil): true
    case .changed, .failed: false
    }
  }

  /// The entry that has the name after the removal of one.
  fileprivate func left(of entry: IndexedEntry) -> IndexedEntry? {
    switch self {
    case .removed: nil
    case .changed(let newer): newer
    case .failed: entry
    }
  }
}

extension BulkRemoval {
  /// Makes the outcome of the removal of one entry.
  init(_ outcome: RemovalOutcome, of byteCount: UInt64) {
    switch outcome {
    case .removed: (removed, self.byteCount) = (1, Int(clamping: byteCount))
    case .failed: failed = 1
    case .changed: break
    }
  }
}

extension EngineState {
  /// Takes over the outcome of a removal. The caller still holds the name.
  ///
  /// - Returns: Whether the index has learned of a file that memory has not been told of.
  mutating func settle(
    _ removal: Removal, _ outcome: RemovalOutcome, of name: EntryName, at now: Timestamp
  ) -> Bool {
    let isRemoved = if case .removed = outcome { true } else { false }
    switch removal {
    // It was counted when the index took the store over.
    case .withdrawn: return false
    case .chosen, .damaged: if isRemoved { catalog.remove(name) }
    case .evicted(let victim, let epoch, _):
      evictions.end(name, freed: outcome.hasFreed ? victim.entry.allocatedByteCount : 0)
      // What was removed or replaced as a whole since the choice does not come back.
      if epoch == self.epoch { settle(victim.entry, outcome, at: now) }
    case .cleared(let met, let count):
      // If another directory is held by now, the name in the index is one of that directory.
      guard clearing.hidesFiles, isRemoved || clearing.count == count else { break }
      clearing.noteWalked(met)
      if isRemoved { catalog.remove(name) }
      if let left = outcome.left(of: met) {
        catalog.index.upsert(left, order: .byLastAccess)
        untoldCount += 1
        return true
      }
    }
    if isRemoved { counters.countRemoval(removal.cause) }
    return false
  }

  /// Takes over the outcome for an entry that has left the index to be evicted.
  private mutating func settle(
    _ entry: IndexedEntry, _ outcome: RemovalOutcome, at now: Timestamp
  ) {
    if case .removed = outcome { return catalog.remove(entry.name) }
    // The uses that are known here still count, as after an event.
    catalog.index.upsert(entry, order: .byLastAccess)
    if case .changed(let met) = outcome {
      _ = settle(
        Finding(name: entry.name, met: met, evidence: .look), isCurrent: true, at: now)
    } else {
      catalog.index.stick(entry.name)
    }
  }
}
