package import LarderBasics
import LarderSystem

/// Something in a cache's directory that is not the cache's.
package struct ForeignThing: Sendable, Hashable {
  /// The kind of a foreign thing, as far as it explains why the thing is not an entry.
  package enum Kind: String, Sendable, Hashable {
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
  package let name: [UInt8]?
  /// The kind of the thing that has the name.
  package let kind: Kind
}

extension DiskCache {
  /// Walks through the directory, and returns what is neither an entry nor a write in progress nor
  /// the tag, up to a number. Opens none of it.
  ///
  /// - Complexity: O(n), with one system call for each name that is foreign or an entry's.
  package func foreignThings(upTo maximum: Int) throws(CacheError) -> [ForeignThing] {
    try checkUsable("foreignThings")
    do throws(Errno) {
      let handle = engine.location.handle
      let stream = try DirectoryStream(handle.reopen())
      var things: [ForeignThing] = []
      while things.count < maximum, let found = try stream.next() {
        if let thing = foreignThing(found, in: handle) { things.append(thing) }
      }
      return things
    } catch {
      throw CacheError(errno: error, operation: "foreignThings", path: directory)
    }
  }

  private func foreignThing(
    _ found: DirectoryStream.Found, in handle: DirectoryHandle
  ) -> ForeignThing? {
    guard case .name(let name) = found else { return ForeignThing(name: nil, kind: .unknown) }
    if name.isTemporary || name.isTag { return nil }
    let bytes = (0..<name.count).map { name[$0] }
    do throws(Errno) {
      guard let status = try handle.statusIfPresent(of: name) else { return nil }
      let kind = ForeignThing.Kind(status)
      guard EntryName(name) != nil, kind == .file else {
        return ForeignThing(name: bytes, kind: kind)
      }
      return engine.reader.trust.isTrusted(status)
        ? nil : ForeignThing(name: bytes, kind: .otherOwner)
    } catch {
      return ForeignThing(name: bytes, kind: .unknown)
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
