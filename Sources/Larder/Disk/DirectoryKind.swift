/// What a directory is to a cache, as its names tell.
package enum DirectoryKind: Sendable, Hashable {
  /// It holds nothing.
  case empty
  /// It has the tag that this library writes, an entry, or what a write left behind.
  case cache
  /// It holds only other things.
  case foreign
}

extension DirectoryKind {
  /// Looks at a directory; nothing in it is read but the tag.
  ///
  /// The tag is looked at first, and the walk ends at the first name of an entry, so that the
  /// answer comes at once for a cache of any size. Other programs mark their caches with
  /// CACHEDIR.TAG too; ours says who wrote it.
  ///
  /// - Throws: `CacheError`: `.directoryMissing`, `.notADirectory`, `.permissionDenied`, `.io`.
  package init(ofDirectory path: String) throws(CacheError) {
    do throws(Errno) {
      self = try Self.kind(of: try DirectoryHandle.open(path: path, faults: nil))
    } catch {
      throw CacheError(errno: error, operation: "open", path: path)
    }
  }

  private static func kind(of handle: DirectoryHandle) throws(Errno) -> DirectoryKind {
    if try DirectoryMaking.hasOwnTag(handle) { return .cache }
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

extension DirectoryMaking {
  /// Whether the directory has a tag that this library wrote.
  fileprivate static func hasOwnTag(_ handle: DirectoryHandle) throws(Errno) -> Bool {
    do throws(Errno) {
      let tag = try handle.openForReading(tagName)
      guard try tag.status().isRegular else { return false }
      let text = try tag.read(upTo: tagText.utf8.count)
      return text.elementsEqual(tagText.utf8)
    } catch .noSuchFile, .tooManyLinks, .permissionDenied, .noSuchDeviceOrAddress {
      return false
    }
  }
}
