import Larder

/// Something in a cache's directory that is not the cache's.
struct ForeignThing: Sendable, Hashable {
  /// The kind of a foreign thing, as far as it explains why the thing is not an entry.
  enum Kind: String, Sendable, Hashable {
    case file
    case directory
    case link
    /// A FIFO, a socket or a device.
    case special
    /// A file with an entry's name that belongs to a user that is not trusted here.
    case otherOwner
    /// A thing that could not be looked at.
    case unknown
  }

  /// The bytes of its name, which are untrusted. Nil for a name longer than any of the cache's.
  let name: [UInt8]?
  /// The kind of the thing that has the name.
  let kind: Kind
}

extension ForeignThing {
  /// Looks at a name without opening it; nil if nothing has the name, or a file that can be an
  /// entry.
  init?(_ name: FileName, in handle: DirectoryHandle, _ trust: EntryTrust) {
    let bytes = (0..<name.count).map { name[$0] }
    do throws(Errno) {
      guard let status = try handle.statusIfPresent(of: name) else { return nil }
      let kind = Kind(status)
      if EntryName(name) == nil || kind != .file {
        self.init(name: bytes, kind: kind)
      } else if !trust.isTrusted(status) {
        self.init(name: bytes, kind: .otherOwner)
      } else {
        return nil
      }
    } catch {
      self.init(name: bytes, kind: .unknown)
    }
  }
}

extension ForeignThing.Kind {
  fileprivate init(_ status: FileStatus) {
    if status.isRegular {
      self = .file
    } else if status.isDirectory {
      self = .directory
    } else {
      self = status.isSymbolicLink ? .link : .special
    }
  }
}
