package import LarderBasics
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

    /// Whether a read returns the value.
    var isServed: Bool { self == .sound || self == .unverifiable }
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
    }
  }
}

extension DiskEngine {
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

  /// Compares the open file of a look with its attribute. A failure that concerns this file alone
  /// is a finding.
  func finding(
    of file: borrowing FileDescriptor, _ look: EntryLook
  ) throws(CacheError) -> Verification.Finding {
    do throws(Errno) {
      return try compare(file, look)
    } catch .noMemory {
      // The file is sparse and longer than the memory can hold.
      return .unreadable
    } catch {
      guard EntryReader.missReason(for: error) != nil else {
        throw CacheError(readFailure: error, name: look.name.description)
      }
      return .unreadable
    }
  }

  /// Compares an open file with its attribute: version, name and content, in this order.
  private func compare(
    _ file: borrowing FileDescriptor, _ look: EntryLook
  ) throws(Errno) -> Verification.Finding {
    switch look.reading {
    case nil: return look.isRemnant ? .damaged : .unverifiable
    case .otherVersion: return .otherVersion
    case .malformed: return .damaged
    case .attribute(let attribute):
      if case .key(let key) = attribute.proof, MD5.digest(of: key.span) != look.name.digest {
        return .damaged
      }
      let testimony = EntryReader.Testimony(attribute: attribute, extendedData: look.extendedData)
      return try EntryReader.matches(file, testimony) ? .sound : .damaged
    }
  }
}
