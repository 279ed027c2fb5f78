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
