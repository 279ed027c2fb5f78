import LarderBasics
package import LarderSystem

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

  /// The key, if the file records it.
  var key: CacheKey? { attribute?.proof.key }
}

extension EntryReader {
  /// Looks at the file of a name, expired or not. Returns nil if no file can be an entry.
  ///
  /// - Parameter isChecking: Whether the content is read and compared with its hash.
  func look(
    at name: EntryName, _ opening: consuming Opening, in handle: @autoclosure () -> DirectoryHandle,
    isChecking: Bool
  ) throws(CacheError) -> EntryLook? {
    var look = EntryLook(name: name)
    if isChecking { look.finding = .unreadable }
    switch consume opening {
    case .missed(.unreadable, _):
      do throws(Errno) {
        look.status = try handle().statusIfPresent(of: name.fileName)
        guard let status = look.status, trust.entry(name, status) != nil else { return nil }
      } catch {
        // The system does not tell the status of a file either that cannot be opened.
      }
    case .missed: return nil
    case .file(let file, let status):
      guard trust.entry(name, status) != nil else { return nil }
      look.status = status
      do throws(Errno) {
        let reading = try attributeReading(of: file)
        let extendedData = try Self.extendedData(of: file)
        look.isRemnant = reading == nil ? try isRemnant(file, status) : false
        (look.reading, look.extendedData, look.isReadable) = (reading, extendedData, true)
        if isChecking { look.finding = try Self.finding(of: file, look) }
      } catch .noMemory where look.isReadable {
        // The file is sparse and longer than the memory can hold.
      } catch {
        // A failure that concerns this file alone is a finding.
        try Self.missReason(for: error, of: name)
      }
    }
    return look
  }

  /// Compares an open file with its attribute: version, name and content, in this order.
  private static func finding(
    of file: borrowing FileDescriptor, _ look: EntryLook
  ) throws(Errno) -> Verification.Finding {
    switch look.reading {
    case nil: return look.isRemnant ? .damaged : .unverifiable
    case .otherVersion: return .otherVersion
    case .malformed: return .damaged
    case .attribute(let attribute):
      guard attribute.proof.fits(look.name) else { return .damaged }
      var testimony = Testimony(attribute: attribute, extendedData: look.extendedData)
      return try matches(file, &testimony) ? .sound : .damaged
    }
  }
}

/// The result of checking every entry of a directory.
public struct Verification: Sendable, Hashable {
  /// The number of entries that were compared with their hash.
  public internal(set) var checkedCount = 0
  /// The number of entries that carry no hash, so that they cannot be checked.
  public internal(set) var unverifiableCount = 0
  /// The file names of damaged entries, sorted: the content, attribute or name does not match.
  public internal(set) var damaged: [String] = []
  /// The names of entries that could not be read, sorted. They may be whole: a repair leaves them.
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
