package import LarderBasics
import LarderSystem

/// What a directory is to a cache, as its names tell.
package enum DirectoryKind: Sendable, Hashable {
  /// It holds nothing.
  case empty
  /// It has the tag that this library writes, or a blank one, an entry, or what a write left behind.
  case cache
  /// It holds only other things.
  case foreign
}

extension DirectoryKind {
  /// Looks at a directory; nothing in it is read but the tag.
  ///
  /// The tag is looked at first, and the walk ends at the first name of an entry, so that the
  /// answer comes at once for a cache of any size. Other programs mark their caches with
  /// CACHEDIR.TAG too; ours says who wrote it, or is blank after a power cut.
  ///
  /// - Throws: `CacheError`: `.directoryMissing`, `.notADirectory`, `.permissionDenied`, `.io`.
  package init(ofDirectory path: String) throws(CacheError) {
    do throws(Errno) {
      self = try Self.kind(of: try DirectoryHandle.open(path: path, faults: nil))
    } catch {
      throw CacheError(errno: error, operation: "open", path: path)
    }
  }

  /// Names alone decide: something foreign that is named like an entry makes a cache of the
  /// directory, which is harmless, since foreign things are never touched.
  private static func kind(of handle: DirectoryHandle) throws(Errno) -> DirectoryKind {
    if try DirectoryMaking.tagFinding(handle) != .none { return .cache }
    let stream = try DirectoryStream(handle.reopen())
    var kind = DirectoryKind.empty
    while let found = try stream.next() {
      if case .name(let name) = found, EntryName(name) != nil || name.isTemporary {
        return .cache
      }
      kind = .foreign
    }
    return kind
  }
}
