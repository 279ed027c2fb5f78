package import LarderBasics
public import LarderSystem

extension DiskEngine {
  /// The status and attributes of a file, read without counting a use or reading the content.
  package struct Inspection: Sendable {
    let name: EntryName
    package let status: FileStatus
    let reading: EntryAttribute.Reading?
    let extendedData: [UInt8]
    /// Whether the file has no attribute and is the rest of a value that a power cut has left.
    let isRemnant: Bool

    var attribute: EntryAttribute? { reading?.attribute }
  }

  /// Looks for the entry of a key. Does not count as a use. Returns nil if a read would miss, as
  /// far as that shows without the content.
  ///
  /// - Parameter staleness: The time past its expiry for which an entry is still found.
  func lookUp(
    _ subject: Subject, staleness: Duration = .zero
  ) throws(CacheError) -> Inspection? {
    followReplacement()
    return try countingErrors { () throws(CacheError) in
      try inspect(subject, staleness: staleness)
    }
  }

  /// Inspects the entry of a key. Returns nil if a read would miss, as far as that shows without
  /// the content.
  ///
  /// - Parameters:
  ///   - staleness: The time past its expiry for which an entry is still found.
  ///   - now: The time, if the caller holds the name.
  func inspect(
    _ subject: Subject, staleness: Duration = .zero, at now: Timestamp? = nil
  ) throws(CacheError) -> Inspection? {
    guard let inspection = try inspect(subject.name),
      reader.objection(to: inspection.reading, isRemnant: inspection.isRemnant, subject.key) == nil
    else { return nil }
    let status = inspection.status
    let pending = withState { $0.catalog.uses.expiry(of: subject.name, status) }
    let objection = reader.trust.objection(
      to: status, pending: pending, now: (now ?? self.now).adding(.zero - staleness))
    return objection == nil ? inspection : nil
  }

  /// Inspects the file of a name, expired or not. Returns nil if there is no file that can be an
  /// entry and be read.
  func inspect(_ name: EntryName) throws(CacheError) -> Inspection? {
    guard case .readable(let inspection) = try look(at: name) else { return nil }
    return inspection
  }

  /// The outcome of a look at the file of a name.
  package enum EntryLook: Sendable {
    case readable(Inspection)
    /// An entry that cannot be opened or read, with its status if the system tells it.
    case unreadable(EntryName, FileStatus?)
    /// No file that can be an entry.
    case nothing
  }

  /// Looks at the file of a name, expired or not.
  ///
  /// - Parameter examine: Is called with the open file of a readable entry.
  func look(
    at name: EntryName,
    _ examine: (borrowing FileDescriptor, Inspection) throws(Errno) -> Void = { _, _ in }
  ) throws(CacheError) -> EntryLook {
    if hidesFile(named: name) { return .nothing }
    switch try reader.open(name.fileName, in: location.handle) {
    case .missed(.unreadable, _): return lookAtUnreadable(name)
    case .missed: return .nothing
    case .file(let descriptor, let status):
      guard status.isRegular, reader.trust.isTrusted(status) else { return .nothing }
      do throws(Errno) {
        let inspection = try inspection(of: descriptor, status, name)
        try examine(descriptor, inspection)
        return .readable(inspection)
      } catch {
        guard EntryReader.missReason(for: error) == nil else { return .unreadable(name, status) }
        throw CacheError(readFailure: error, name: name.description)
      }
    }
  }

  /// Reads the attributes of an open file.
  func inspection(
    of file: borrowing FileDescriptor, _ status: FileStatus, _ name: EntryName
  ) throws(Errno) -> Inspection {
    let reading = try reader.attributeReading(of: file)
    return Inspection(
      name: name, status: status, reading: reading,
      extendedData: try EntryReader.extendedData(of: file),
      isRemnant: reading == nil ? try reader.isRemnant(file, status) : false)
  }

  /// Looks at a file that cannot be opened. The system may tell its status all the same.
  private func lookAtUnreadable(_ name: EntryName) -> EntryLook {
    do throws(Errno) {
      guard let status = try location.handle.statusIfPresent(of: name.fileName),
        status.isRegular, reader.trust.isTrusted(status)
      else { return .nothing }
      return .unreadable(name, status)
    } catch {
      return .unreadable(name, nil)
    }
  }

  /// Walks through the directory, and returns the names of all entries.
  func names() throws(CacheError) -> [EntryName] {
    var names: [EntryName] = []
    try walk("entries") { scan throws(Errno) in
      let piece = try scan.next()
      names += piece.entries.map(\.name) + piece.unreadable.map(\.name)
      return !piece.isLast
    }
    return names
  }

  /// Walks through the directory and returns the names that look like entries. Reads no status, so
  /// links and foreign files are among them.
  ///
  /// For callers that look at each name: reading the status of each file first would make a walk
  /// through 100,000 files on a slow disk take minutes.
  func unjudgedNames(reporting progress: WalkProgress) throws(CacheError) -> [EntryName] {
    var names: [EntryName] = []
    try walk("entries") { scan throws(Errno) in
      let piece = try scan.nextNames()
      names += piece.found.compactMap { EntryName($0) }
      progress(names.count, nil)
      return !piece.isLast
    }
    return names
  }

  /// Looks at the files of names, and calls a function for each in their order.
  ///
  /// - Parameters:
  ///   - isChecking: Whether the contents are read and compared with their hashes.
  ///   - progress: Is told of each look, after `body` has got it.
  package func forEachLook(
    at names: [EntryName], isChecking: Bool, reporting progress: WalkProgress,
    _ body: (EntryName, CheckedLook) throws(CacheError) -> Void
  ) throws(CacheError) {
    for (index, name) in names.enumerated() {
      let look =
        isChecking
        ? try lookAndCheck(name) : CheckedLook(entry: try look(at: name), finding: nil)
      try body(name, look)
      progress(index + 1, names.count)
    }
  }

  /// Walks through the directory, and counts what is in it.
  func survey(reporting progress: WalkProgress) throws(CacheError) -> DirectorySurvey {
    var survey = DirectorySurvey()
    let now = self.now
    try walk("survey") { scan throws(Errno) in
      let piece = try scan.next()
      survey.add(piece, now: now)
      progress(survey.entryCount, nil)
      return !piece.isLast
    }
    survey.hasTag = try hasTag("survey")
    return survey
  }

  /// Walks through the directory of the path.
  ///
  /// - Parameter step: Takes the next piece, and returns whether there are more.
  package func walk(
    _ operation: String, _ step: (inout DirectoryScan) throws(Errno) -> Bool
  ) throws(CacheError) {
    followReplacement()
    var scan = try attempt(
      operation, at: location.path, DirectoryScan(location.handle, trust: reader.trust))
    while try attempt(operation, at: location.path, step(&scan)) {}
  }

  /// Whether the directory has the tag of a cache.
  package func hasTag(_ operation: String) throws(CacheError) -> Bool {
    let tag = try attempt(
      operation, at: location.path, location.handle.statusIfPresent(of: DirectoryMaking.tagName))
    return tag?.isRegular ?? false
  }
}

/// A listener for the progress of a walk. While names are read, `done` is the number found and
/// `total` is nil; afterwards `done` is the number of files inspected.
package typealias WalkProgress = (_ done: Int, _ total: Int?) -> Void

/// A look at an entry, with the comparison of its content with its hash.
package struct CheckedLook {
  package let entry: DiskEngine.EntryLook
  /// Nil if the content was not to be checked.
  package let finding: Verification.Finding?
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
  mutating func add(_ piece: DirectoryScan.Piece, now: Timestamp) {
    foreignCount += piece.foreignCount
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
