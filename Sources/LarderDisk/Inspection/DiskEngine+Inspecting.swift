package import LarderBasics
import LarderDigest
public import LarderSystem

/// A look at an entry's file: its status and attributes, read without counting a use.
package struct EntryLook: Sendable {
  package let name: EntryName
  /// Nil if the system does not tell it, of an entry that cannot be opened.
  package fileprivate(set) var status: FileStatus?
  /// Whether the file could be opened and its attributes read. If not, those below are unknown.
  fileprivate(set) var isReadable = false
  fileprivate(set) var reading: EntryAttribute.Reading?
  fileprivate(set) var extendedData: [UInt8] = []
  /// Whether the file has no attribute and is the rest of a value that a power cut has left.
  fileprivate(set) var isRemnant = false
  /// The comparison of the content with its hash; nil if the content was not to be checked.
  package fileprivate(set) var finding: Verification.Finding?

  var attribute: EntryAttribute? { reading?.attribute }

  /// The key, if the file records it. A digest proves a key but does not contain it.
  var key: CacheKey? {
    guard case .key(let bytes)? = attribute?.proof else { return nil }
    return CacheKey(bytes)
  }
}

extension DiskEngine {
  /// Looks for the entry of a key, and counts an error. Returns nil if a read would miss, as far as
  /// that shows without the content. Does not count as a use.
  ///
  /// - Parameter staleness: The time past its expiry for which an entry is still found.
  func lookUp(_ subject: Subject, staleness: Duration = .zero) throws(CacheError) -> EntryLook? {
    followReplacement()
    return try countingErrors { () throws(CacheError) in
      guard let look = try look(at: subject.name), look.isReadable, let status = look.status,
        reader.objection(to: look.reading, isRemnant: look.isRemnant, subject.key) == nil
      else { return nil }
      let time = now.adding(.zero - staleness)
      return objection(to: status, of: subject.name, at: time) == nil ? look : nil
    }
  }

  /// Looks at the file of a name, expired or not. Returns nil if there is no file that can be an
  /// entry.
  ///
  /// - Parameter isChecking: Whether the content is read and compared with its hash.
  package func look(at name: EntryName, isChecking: Bool = false) throws(CacheError) -> EntryLook? {
    var look = EntryLook(name: name)
    if isChecking { look.finding = .unreadable }
    switch try openFile(of: name) {
    case .missed(.unreadable, _):
      do throws(Errno) {
        look.status = try location.handle.statusIfPresent(of: name.fileName)
        guard let status = look.status, reader.trust.entry(name, status) != nil else { return nil }
      } catch {
        // The system does not tell the status of a file either that cannot be opened.
      }
    case .missed: return nil
    case .file(let file, let status):
      guard reader.trust.entry(name, status) != nil else { return nil }
      look.status = status
      do throws(Errno) {
        try read(file, status, into: &look, isChecking: isChecking)
      } catch .noMemory where look.isReadable {
        // The file is sparse and longer than the memory can hold.
      } catch {
        // A failure that concerns this file alone is a finding.
        guard EntryReader.missReason(for: error) != nil else {
          throw CacheError(readFailure: error, name: name.description)
        }
      }
    }
    return look
  }

  /// Reads the attributes of the open file of a look, and compares its content with its hash if
  /// asked to.
  private func read(
    _ file: borrowing FileDescriptor, _ status: FileStatus, into look: inout EntryLook,
    isChecking: Bool
  ) throws(Errno) {
    let reading = try reader.attributeReading(of: file)
    let extendedData = try EntryReader.extendedData(of: file)
    look.isRemnant = reading == nil ? try reader.isRemnant(file, status) : false
    (look.reading, look.extendedData, look.isReadable) = (reading, extendedData, true)
    if isChecking { look.finding = try finding(of: file, look) }
  }

  /// Compares an open file with its attribute: version, name and content, in this order.
  private func finding(
    of file: borrowing FileDescriptor, _ look: EntryLook
  ) throws(Errno) -> Verification.Finding {
    switch look.reading {
    case nil: return look.isRemnant ? .damaged : .unverifiable
    case .otherVersion: return .otherVersion
    case .malformed: return .damaged
    case .attribute(let attribute):
      if case .key(let key) = attribute.proof, MD5.digest(of: key.span) != look.name.digest {
        return .damaged
      }
      var testimony = EntryReader.Testimony(attribute: attribute, extendedData: look.extendedData)
      return try EntryReader.matches(file, &testimony) ? .sound : .damaged
    }
  }
}

// The whole directory.
extension DiskEngine {
  /// Walks through the directory of the path.
  ///
  /// - Parameters:
  ///   - readsStatus: Whether the status of each entry is read, and not only its name.
  ///   - body: Takes each piece.
  package func walk(
    _ operation: String, readsStatus: Bool, _ body: (DirectoryScan.Piece) -> Void
  ) throws(CacheError) {
    followReplacement()
    var scan = try attempt(
      operation, at: location.path, DirectoryScan(location.handle, trust: reader.trust))
    var isLast = false
    while !isLast {
      let piece = try attempt(operation, at: location.path, scan.next(readsStatus: readsStatus))
      body(piece)
      isLast = piece.isLast
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

  /// Walks through the directory, and counts what is in it.
  func survey(reporting progress: WalkProgress) throws(CacheError) -> DirectorySurvey {
    var survey = DirectorySurvey()
    let now = self.now
    try walk("survey", readsStatus: true) { piece in
      survey.add(piece, now: now)
      progress(survey.entryCount, nil)
    }
    survey.hasTag = try hasTag("survey")
    return survey
  }

  /// Whether the directory has the tag of a cache.
  package func hasTag(_ operation: String) throws(CacheError) -> Bool {
    let tag = try attempt(
      operation, at: location.path, location.handle.statusIfPresent(of: DirectoryMaking.tagName))
    return tag?.isRegular ?? false
  }

  /// Compares every entry with its attribute, and removes damaged ones if `repairs` is true. An
  /// entry that cannot be read is not damaged.
  package func verify(
    repairs: Bool, reporting progress: WalkProgress
  ) throws(CacheError) -> Verification {
    if repairs {
      try checkWritable("verify")
      try revalidate(isUrgent: false, mayMake: false, "verify")
    }
    var result = Verification()
    try forEachEntry(isChecking: true, reporting: progress) { look in
      guard let finding = look.finding else { return }
      result.add(finding, look.name)
      if repairs, finding == .damaged { result.removal.add(remove(judged: look, .damaged)) }
    }
    if result.removal.removed > 0 { synchronizeRemovals() }
    return result
  }

  /// Removes the file of a look if it is still in the state that was looked at.
  ///
  /// - Parameter isPassed: Whether the entry of the name is another by now, asked with the name
  ///   held.
  func remove(
    judged look: EntryLook, _ removal: Removal,
    unless isPassed: (EntryName) -> Bool = { _ in false }
  ) -> BulkRemoval {
    guard let status = look.status else { return BulkRemoval() }
    let outcome = changing(look.name) { held in
      if isPassed(look.name) { return RemovalOutcome.changed(nil) }
      guard !held.turn.isEnding else {
        noteUpkeepFailure(.shutDown)
        return .failed
      }
      return remove(held, .exactly(status), removal)
    }
    return BulkRemoval(outcome, of: status.byteCount)
  }
}

/// A listener for the progress of a walk. While names are read, `done` is the number found and
/// `total` is nil; afterwards `done` is the number of files inspected.
package typealias WalkProgress = (_ done: Int, _ total: Int?) -> Void

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
  /// The number of things that are not the cache's: other names, directories, links, other people's
  /// files.
  public package(set) var foreignCount = 0
  /// The number of writes in progress or left behind by a crash.
  public package(set) var temporaryCount = 0
  /// Whether the directory has the tag of a cache.
  public package(set) var hasTag = false
  /// The earliest last access.
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
    oldestAccess = min(oldestAccess ?? entry.lastAccess, entry.lastAccess)
    newestAccess = max(newestAccess ?? entry.lastAccess, entry.lastAccess)
    if entry.expiry.hasCome(at: now) {
      expiredCount += 1
    } else if entry.expiry < .never {
      // An expiry of never is not the next one.
      nextExpiry = min(nextExpiry ?? entry.expiry, entry.expiry)
    }
  }
}
