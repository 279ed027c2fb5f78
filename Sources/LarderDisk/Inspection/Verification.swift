import LarderBasics
import LarderDigest
import LarderSystem

/// The result of checking every entry of a directory.
public struct Verification: Sendable, Hashable {
  /// The number of entries that were compared with their hash.
  public internal(set) var checkedCount = 0
  /// The number of entries that carry no hash, so that they cannot be checked.
  public internal(set) var unverifiableCount = 0
  /// The file names of damaged entries, sorted: the content, attribute or name does not match.
  public internal(set) var damaged: [String] = []
  /// The file names of entries that could not be read, sorted. A repair leaves them alone, because
  /// they may be whole.
  public internal(set) var unreadable: [String] = []
  /// The file names of entries that another version of the format wrote, sorted.
  public internal(set) var otherVersions: [String] = []
  /// The files that a repair removed.
  public internal(set) var removal = BulkRemoval()

  /// The result of checking one entry.
  package enum Finding: Sendable {
    case sound
    case unverifiable
    case damaged
    case unreadable
    case otherVersion
    /// The file was removed after the names were read, so it was not checked.
    case gone

    /// Whether a read returns the value.
    var isServed: Bool {
      switch self {
      case .sound, .unverifiable: true
      case .damaged, .unreadable, .otherVersion, .gone: false
      }
    }
  }

  package init() {}

  /// Counts a finding. A damaged entry counts as checked.
  package mutating func add(_ finding: Finding, _ name: EntryName) {
    switch finding {
    case .sound: checkedCount += 1
    case .unverifiable: unverifiableCount += 1
    case .damaged:
      checkedCount += 1
      damaged.append(name.description)
    case .unreadable: unreadable.append(name.description)
    case .otherVersion: otherVersions.append(name.description)
    case .gone: break
    }
  }
}

extension DiskEngine {
  /// Compares every entry with its attribute, and removes damaged ones if `repairs` is true. An
  /// entry that cannot be read is not damaged.
  func verify(
    repairs: Bool, reporting progress: WalkProgress
  ) throws(CacheError) -> Verification {
    if repairs {
      try checkWritable("verify")
      try revalidate(isUrgent: false, mayMake: false, "verify")
    }
    var result = Verification()
    let names = try unjudgedNames(reporting: progress).sorted()
    try forEachLook(at: names, isChecking: true, reporting: progress) { name, look in
      if let finding = look.finding { result.add(finding, name) }
      if case .damaged = look.finding, repairs, case .readable(let damaged) = look.entry {
        result.removal.add(repair(name, damaged.status))
      }
    }
    return result
  }

  /// Removes a damaged file unless it is no longer the one that was checked.
  private func repair(_ name: EntryName, _ status: FileStatus) -> BulkRemoval {
    changing(name) {
      tellObservers(ofFiles: [name])
      var removal = BulkRemoval()
      do throws(Errno) {
        let handle = location.handle
        let unlinking = try unlink(
          name, inode: status.inode, changeTime: status.change, in: handle)
        guard case .removed = unlinking else { return removal }
        removal.removed = 1
        removal.byteCount = Int(status.byteCount)
        withState { $0.noteRemoved(name, as: .corrupt) }
        tellOfRemoval(name, .corrupt)
        if configuration.durability == .durable { try handle.descriptor.synchronize() }
      } catch {
        noteUpkeepFailure(error)
        if removal.removed == 0 { removal.failed = 1 }
      }
      return removal
    }
  }

  /// Compares the file of a name with its attribute.
  func finding(for name: EntryName) throws(CacheError) -> Verification.Finding {
    switch try reader.open(name.fileName, in: location.handle) {
    case .missed(let reason, _):
      return reason == .absent || reason == .foreign ? .gone : .unreadable
    case .file(let descriptor, let status):
      guard status.isRegular else { return .gone }
      return try finding(for: name) { () throws(Errno) in
        try finding(descriptor, inspection(of: descriptor, status, name))
      }
    }
  }

  /// Looks at the file of a name, and compares it with its attribute.
  func lookAndCheck(_ name: EntryName) throws(CacheError) -> CheckedLook {
    var finding = Verification.Finding.gone
    var failure: CacheError?
    let entry = try look(at: name) { file, inspection in
      do throws(CacheError) {
        finding = try self.finding(for: name) { () throws(Errno) in
          try self.finding(file, inspection)
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    if case .unreadable = entry { finding = .unreadable }
    return CheckedLook(entry: entry, finding: finding)
  }

  /// Runs a check of a file. A failure that concerns this file alone is a finding.
  private func finding(
    for name: EntryName, _ check: () throws(Errno) -> Verification.Finding
  ) throws(CacheError) -> Verification.Finding {
    do throws(Errno) {
      return try check()
    } catch .noMemory {
      // The file is sparse and longer than the memory can hold.
      return .unreadable
    } catch {
      guard EntryReader.missReason(for: error) != nil else {
        throw CacheError(readFailure: error, name: name.description)
      }
      return .unreadable
    }
  }

  /// Compares an open file with its attribute: version, name and content, in this order.
  private func finding(
    _ descriptor: borrowing FileDescriptor, _ inspection: Inspection
  ) throws(Errno) -> Verification.Finding {
    switch inspection.reading {
    case nil: return inspection.isRemnant ? .damaged : .unverifiable
    case .otherVersion: return .otherVersion
    case .malformed: return .damaged
    case .attribute(let attribute):
      if case .key(let key) = attribute.proof, MD5.digest(of: key.span) != inspection.name.digest {
        return .damaged
      }
      let testimony = EntryReader.Testimony(
        attribute: attribute, extendedData: inspection.extendedData)
      return try EntryReader.matches(descriptor, testimony) ? .sound : .damaged
    }
  }
}
