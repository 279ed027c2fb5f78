import Larder
import LarderDigest

extension DiskCache {
  /// Returns the names of the files that hold values of keys, with any extension. For each key that
  /// is the name without extension alone if there is such a file, and otherwise all names with an
  /// extension, sorted.
  ///
  /// - Complexity: One system call per key, and one walk through the directory's names if any of
  ///   the keys has no file without extension.
  func names(forKeys keys: [CacheKey]) throws(CacheError) -> [[EntryName]] {
    try checkUsable("names")
    engine.followReplacement()
    let bare = keys.map { EntryName($0) }
    do throws(Errno) {
      var found: [EntryName: [EntryName]] = [:]
      // The bare name is tried first, because it takes one call. If all bare names are found, no
      // walk is made.
      for name in bare where try engine.hasFile(name) { found[name] = [name] }
      let missing = Set(bare.filter { found[$0] == nil }.map(\.digest))
      if !missing.isEmpty {
        for name in try engine.names(ofDigests: missing) {
          found[EntryName(digest: name.digest, fileExtension: .none), default: []].append(name)
        }
      }
      return bare.map { found[$0, default: []].sorted() }
    } catch {
      throw CacheError(errno: error, operation: "names", path: directory)
    }
  }

  /// Returns the names of files that begin with some bytes, sorted.
  ///
  /// - Complexity: One walk through the directory's names.
  func names(beginningWith bytes: [UInt8]) throws(CacheError) -> [EntryName] {
    try checkUsable("names")
    let start = String(decoding: bytes, as: UTF8.self)
    let names = try unjudgedNames { _, _ in }.filter { "\($0)".hasPrefix(start) }
    do throws(Errno) {
      var found: [EntryName] = []
      for name in names where try engine.hasFile(name) { found.append(name) }
      return found.sorted()
    } catch {
      throw CacheError(errno: error, operation: "names", path: directory)
    }
  }

  /// Returns the hash of the content of a name's file, computed and not taken from its attribute;
  /// nil if there is no file that can be an entry and be read. Does not count as a use.
  ///
  /// For comparing two directories: equal hashes of equal lengths count as equal contents.
  ///
  /// - Complexity: O(bytes), in constant memory.
  func contentHash(of name: EntryName) throws(CacheError) -> UInt64? {
    try checkUsable("contentHash")
    engine.followReplacement()
    switch try engine.reader.open(name.fileName, in: engine.location.handle) {
    case .missed: return nil
    case .file(let descriptor, let status):
      guard status.isRegular else { return nil }
      do throws(Errno) {
        return try EntryReader.hash(of: descriptor).finalize()
      } catch {
        try EntryReader.missReason(for: error, of: name)
        return nil
      }
    }
  }
}

extension DiskCache {
  /// Returns the entry of a name, even if it has expired or a read would not serve it; nil if there
  /// is no file that can be an entry. Does not count as a use.
  ///
  /// - Complexity: O(1): reads status and attributes, not the content.
  func entry(named name: EntryName) throws(CacheError) -> DiskEntry? {
    try checkUsable("entry")
    engine.followReplacement()
    return try look(at: name).map { DiskEntry($0) }
  }

  /// Removes the file of a name.
  ///
  /// - Returns: The bytes of its value; nil if there was none.
  ///
  /// The length is read before the removal, so a store between the two is counted with the older
  /// length.
  func remove(_ name: EntryName) throws(CacheError) -> Int? {
    let byteCount = try entry(named: name)?.byteCount ?? 0
    return try remove(name) ? byteCount : nil
  }

  /// Counts the contents as `survey()` does, and the entries that were not used since their store;
  /// nil if the
  /// file system does not tell. Opens no file.
  func survey(
    reporting progress: WalkProgress
  ) throws(CacheError) -> (survey: DirectorySurvey, unusedCount: Int?) {
    try checkWhole("survey")
    let (now, handle) = (engine.now, engine.location.handle)
    var survey = DirectorySurvey()
    var (knownCount, unusedCount) = (0, 0)
    try walk("survey", readsStatus: true) { piece in
      survey.add(piece, now: now)
      for entry in piece.entries {
        // Nil also for a file that was removed meanwhile.
        guard let isUnused = handle.isUnused(entry.name) else { continue }
        knownCount += 1
        unusedCount += isUnused ? 1 : 0
      }
      progress(survey.entryCount, nil)
    }
    survey.hasTag = try hasTag("survey")
    return (survey, knownCount == 0 && survey.entryCount > 0 ? nil : unusedCount)
  }

  /// Returns the number of names that look like entries. Reads no status, so links and foreign
  /// files count too.
  func nameCount(reporting progress: WalkProgress) throws(CacheError) -> Int {
    try checkWhole("nameCount")
    return try unjudgedNames(reporting: progress).count
  }
}

// Trims.
extension DiskCache {
  /// Returns the progress of a trim that another thread waits for. While the directory is scanned:
  /// the number of entries that were found, with `total` nil. Then: the number of entries that are
  /// gone, and `total`. Nil before that number is known.
  ///
  /// Meant for a process that removes nothing else, since earlier removals are counted as well.
  ///
  /// - Parameter total: The number of entries that the trim removes, as far as it is known.
  func trimProgress(of total: Int?) -> (done: Int, total: Int?)? {
    let statistics = statistics
    guard statistics.scan == .finished else { return (engine.entryIndex.totals.count, nil) }
    return total.map { (statistics.removals.values.reduce(0, +), $0) }
  }

  /// Returns the removal that a trim to a goal would make if it ran now, and the names in its
  /// order. Changes nothing, so it works for a cache that only reads. Waits for the first scan.
  func preview(
    _ goal: TrimGoal
  ) throws(CacheError) -> (removal: BulkRemoval, names: [EntryName]) {
    try checkWhole("preview")
    try engine.waitForScan()
    // The same plan as the removal itself makes.
    let plan = TrimPlan(for: goal, at: engine.now, configuration)
    var index = engine.entryIndex
    var removal = BulkRemoval()
    let victims = index.take(plan, byValue: engine.evictsByValue)
    for victim in victims { removal.byteCount.addSaturating(victim.entry.byteCount) }
    removal.removed = victims.count
    return (removal, victims.map(\.entry.name))
  }
}

extension DiskEngine {
  /// Whether a regular file has the name.
  fileprivate func hasFile(_ name: EntryName) throws(Errno) -> Bool {
    try location.handle.statusIfPresent(of: name.fileName)?.isRegular ?? false
  }

  /// Returns the names with any of the digests, as of a walk through the directory now.
  fileprivate func names(ofDigests digests: Set<MD5Digest>) throws(Errno) -> [EntryName] {
    let stream = try DirectoryStream(location.handle.reopen())
    var names: [EntryName] = []
    while let found = try stream.next() {
      guard case .name(let fileName) = found, let name = EntryName(fileName) else { continue }
      if digests.contains(name.digest), try hasFile(name) { names.append(name) }
    }
    return names
  }
}
