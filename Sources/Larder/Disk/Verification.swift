/// What checking every entry of a directory found.
public struct Verification: Sendable, Hashable {
  /// Entries whose content was compared with its hash.
  public internal(set) var checkedCount = 0
  /// Entries that carry no hash, so that nothing can be said of them.
  public internal(set) var unverifiableCount = 0
  /// The file names of entries whose content, attribute or name does not match, sorted.
  public internal(set) var damaged: [String] = []
  /// The file names of entries that another version of the format wrote, sorted.
  public internal(set) var otherVersions: [String] = []
  /// What a repair removed.
  public internal(set) var removal = BulkRemoval()

  /// What checking one entry found.
  enum Finding: Sendable {
    case sound
    case unverifiable
    case damaged
    case otherVersion
    /// Removed since the names were read, which says nothing of it.
    case gone

    /// Whether a read returns the value.
    var isServed: Bool {
      switch self {
      case .sound, .unverifiable: true
      case .damaged, .otherVersion, .gone: false
      }
    }
  }

  /// Counts what was found; damage counts as checked.
  mutating func add(_ finding: Finding, _ name: EntryName) {
    switch finding {
    case .sound: checkedCount += 1
    case .unverifiable: unverifiableCount += 1
    case .damaged:
      checkedCount += 1
      damaged.append(name.description)
    case .otherVersion: otherVersions.append(name.description)
    case .gone: break
    }
  }
}

extension DiskEngine {
  /// Compares every entry with what its attribute says, and removes what is damaged if asked to.
  func verify(
    repairs: Bool, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws(CacheError) -> Verification {
    if repairs { try checkWritable("verify") }
    var result = Verification()
    let names = try self.names().sorted()
    for (index, name) in names.enumerated() {
      let finding = try finding(for: name)
      result.add(finding, name)
      // One by one and not at the end, so that a repair that is cut short has done its part.
      if case .damaged = finding, repairs { result.removal.add(repair(name)) }
      progress(index + 1, names.count)
    }
    return result
  }

  /// Removes the file of a name under the engine's rules. A failure counts, and does not end the
  /// walk.
  private func repair(_ name: EntryName) -> BulkRemoval {
    var removal = BulkRemoval()
    do throws(CacheError) {
      let byteCount = try byteCount(of: name)
      if try remove(name, cause: .corrupt) {
        removal.removed = 1
        removal.byteCount = byteCount
      }
    } catch {
      removal.failed = 1
    }
    return removal
  }

  /// Compares the file of a name with what its attribute says.
  func finding(for name: EntryName) throws(CacheError) -> Verification.Finding {
    switch try reader.open(name.fileName, in: location.handle) {
    case .missed(let reason, _): return reason == .absent ? .gone : .damaged
    case .file(let descriptor, let status):
      do throws(Errno) {
        return try verify(descriptor, status, name)
      } catch {
        return .damaged
      }
    }
  }

  /// Compares an open file: version, name and content, in this order.
  private func verify(
    _ descriptor: borrowing FileDescriptor, _ status: FileStatus, _ name: EntryName
  ) throws(Errno) -> Verification.Finding {
    switch try reader.attributeReading(of: descriptor) {
    case nil: return status.byteCount == 0 ? .damaged : .unverifiable
    case .otherVersion: return .otherVersion
    case .malformed: return .damaged
    case .attribute(let attribute):
      if case .key(let key) = attribute.proof, MD5.digest(of: key.span) != name.digest {
        return .damaged
      }
      let testimony = EntryReader.Testimony(
        attribute: attribute, extendedData: try reader.extendedData(of: descriptor))
      return try EntryReader.matches(descriptor, testimony) ? .sound : .damaged
    }
  }
}
