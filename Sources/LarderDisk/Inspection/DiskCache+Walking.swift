package import LarderBasics
public import LarderSystem

/// A listener for the progress of a walk. While names are read, `done` is the number found and
/// `total` is nil; afterwards `done` is the number of files inspected.
package typealias WalkProgress = (_ done: Int, _ total: Int?) -> Void

// Walks through the directory of the path.
extension DiskCache {
  /// Walks through the directory.
  ///
  /// - Parameters:
  ///   - readsStatus: Whether the status of each entry is read, and not only its name.
  ///   - body: Takes each piece.
  package func walk(
    _ operation: String, readsStatus: Bool, _ body: (DirectoryScan.Piece) -> Void
  ) throws(CacheError) {
    try engine.revalidate(isUrgent: false, mayMake: false, operation)
    var scan = try attempt(
      operation, at: directory, DirectoryScan(engine.location.handle, trust: engine.reader.trust))
    while true {
      let piece = try attempt(operation, at: directory, scan.next(readsStatus: readsStatus))
      body(piece)
      if piece.isLast { return }
    }
  }

  /// Walks through the directory and returns the names that look like entries. Reads no status, so
  /// links and foreign files are among them.
  ///
  /// For callers that look at each name: reading the status of each file first would make a walk
  /// through 100,000 files on a slow disk take minutes.
  package func unjudgedNames(reporting progress: WalkProgress) throws(CacheError) -> [EntryName] {
    var names: [EntryName] = []
    try walk("entries", readsStatus: false) { piece in
      names += piece.names
      progress(names.count, nil)
    }
    return names
  }

  /// Looks at the file of a name, expired or not; nil if there is none that can be an entry.
  ///
  /// - Parameter isChecking: Whether the content is read and compared with its hash.
  package func look(at name: EntryName, isChecking: Bool = false) throws(CacheError) -> EntryLook? {
    try engine.reader.look(
      at: name, engine.openFile(of: name), in: engine.location.handle, isChecking: isChecking)
  }

  /// Walks through the directory, and looks at all entries in the order of their names. One that is
  /// removed between the walk and the look at it is left out.
  ///
  /// - Parameters:
  ///   - isChecking: Whether the contents are read and compared with their hashes.
  ///   - progress: Is told of each look, after `body` has got it.
  func forEachEntry(
    isChecking: Bool = false, reporting progress: WalkProgress = { _, _ in },
    _ body: (EntryLook) throws(CacheError) -> Void
  ) throws(CacheError) {
    let names = try unjudgedNames(reporting: progress).sorted()
    for (index, name) in names.enumerated() {
      if let look = try look(at: name, isChecking: isChecking) { try body(look) }
      progress(index + 1, names.count)
    }
  }

  /// Whether the directory has the tag of a cache.
  package func hasTag(_ operation: String) throws(CacheError) -> Bool {
    let handle = engine.location.handle
    let tag = try attempt(
      operation, at: directory, handle.statusIfPresent(of: DirectoryMaking.tagName))
    return tag?.isRegular ?? false
  }

  /// Verifies as `verify(repairs:_:)` does, and reports the names that were found as well.
  package func verify(
    repairs: Bool, reporting progress: WalkProgress
  ) throws(CacheError) -> Verification {
    try checkWhole("verify")
    return try engine.countingErrors { () throws(CacheError) in
      if repairs { try engine.checkWritable("verify") }
      var result = Verification()
      try forEachEntry(isChecking: true, reporting: progress) { look in
        guard let finding = look.finding else { return }
        result.add(finding, look.name)
        guard repairs, finding == .damaged, let status = look.status else { return }
        result.removal.add(engine.remove(look.name, judged: status, .damaged))
      }
      if repairs { try attempt("verify", at: directory, engine.synchronizeRemovals()) }
      return result
    }
  }
}

/// The counts of a walk through a cache's directory, which reads and changes no file.
public struct DirectorySurvey: Sendable, Hashable {
  /// The number of entries, including expired ones.
  public internal(set) var entryCount = 0
  /// The bytes of the entries' values.
  public internal(set) var byteCount = 0
  /// The bytes that the file system set aside for the entries.
  public internal(set) var allocatedByteCount = 0
  /// The number of expired entries.
  public internal(set) var expiredCount = 0
  /// The number of things that are not the cache's: other names or owners, directories, links.
  public package(set) var foreignCount = 0
  /// The number of writes in progress or left behind by a crash.
  public package(set) var temporaryCount = 0
  /// Whether the directory has the tag of a cache.
  public package(set) var hasTag = false
  /// The earliest last access of an entry that has not expired; nil if all have.
  public internal(set) var oldestAccess: Timestamp?
  /// The latest last access.
  public internal(set) var newestAccess: Timestamp?
  /// The earliest expiry of an entry that has not expired; nil if none will expire.
  public internal(set) var nextExpiry: Timestamp?

  package init() {}

  /// Counts a piece of a scan.
  package mutating func add(_ piece: DirectoryScan.Piece, now: Timestamp) {
    foreignCount += piece.foreign.count
    temporaryCount += piece.temporaries.count
    for entry in piece.entries { add(entry, now: now) }
  }

  /// Counts an entry.
  package mutating func add(_ entry: IndexedEntry, now: Timestamp) {
    entryCount += 1
    byteCount.addSaturating(entry.byteCount)
    allocatedByteCount.addSaturating(entry.allocatedByteCount)
    newestAccess = max(newestAccess ?? entry.lastAccess, entry.lastAccess)
    if entry.expiry.hasCome(at: now) {
      expiredCount += 1
      return
    }
    oldestAccess = min(oldestAccess ?? entry.lastAccess, entry.lastAccess)
    // An expiry of never is not the next one.
    if entry.expiry < .never { nextExpiry = min(nextExpiry ?? entry.expiry, entry.expiry) }
  }
}
