package import LarderBasics
import LarderDisk
package import LarderSystem

/// The kind of a directory, as far as the names in it tell.
package enum DirectoryKind: Sendable, Hashable {
  /// It holds nothing.
  case empty
  /// It holds this library's tag, a blank tag, an entry, or the temporary file of a write.
  case cache
  /// It holds only other things.
  case foreign
}

extension DirectoryKind {
  /// Determines the kind of a directory. Reads no file in it except the tag.
  ///
  /// The tag comes first, and the walk ends at the first name of an entry, so a cache of any size
  /// is recognised at once. Other programs mark their caches with CACHEDIR.TAG too. Larder's tag
  /// names Larder, or is blank after a power cut.
  ///
  /// - Parameter kind: Returns the kind of a directory that holds a name which is no cache's.
  /// - Throws: `CacheError`: `.directoryMissing`, `.notADirectory`, `.permissionDenied`, `.io`.
  package init(
    ofDirectory path: String, with kind: (FileName) -> DirectoryKind = { _ in .foreign }
  ) throws(CacheError) {
    self = try attempt(
      "open", at: path, Self.kind(of: DirectoryHandle.open(path: path, faults: nil), with: kind))
  }

  /// Whether more than names shows that a directory is a cache: its tag, the temporary file of a
  /// write, or an entry's attribute. Other programs name files by an MD5 too, as thumbnails are.
  /// True for a directory without such names.
  ///
  /// - Throws: As ``init(ofDirectory:with:)``.
  package static func isProven(ofDirectory path: String) throws(CacheError) -> Bool {
    try attempt("open", at: path, isProven(DirectoryHandle.open(path: path, faults: nil)))
  }

  private static func isProven(_ handle: DirectoryHandle) throws(Errno) -> Bool {
    switch try DirectoryMaking.tagFinding(handle) {
    case .own, .blank: return true
    case .missing, .foreign: break
    }
    let stream = try DirectoryStream(handle.reopen())
    var hasEntries = false
    while let found = try stream.next() {
      guard case .name(let name) = found else { continue }
      if name.isTemporary { return true }
      guard EntryName(name) != nil else { continue }
      hasEntries = true
      do throws(Errno) {
        var hasAttribute = false
        try handle.openForReading(name).withAttribute(.entry) { _ in hasAttribute = true }
        if hasAttribute { return true }
      } catch {
        // What cannot be read proves nothing.
      }
    }
    return !hasEntries
  }

  /// Decides by the names alone. A foreign thing that is named like an entry makes the directory
  /// count as a cache.
  private static func kind(
    of handle: DirectoryHandle, with kindWithName: (FileName) -> DirectoryKind
  ) throws(Errno) -> DirectoryKind {
    switch try DirectoryMaking.tagFinding(handle) {
    case .own, .blank: return .cache
    case .missing, .foreign: break
    }
    let stream = try DirectoryStream(handle.reopen())
    var kind = DirectoryKind.empty
    while let found = try stream.next() {
      let next: DirectoryKind =
        switch found {
        case .name(let name) where EntryName(name) != nil || name.isTemporary: .cache
        case .name(let name): kindWithName(name)
        case .longName: .foreign
        }
      if next == .cache { return .cache }
      if next == .foreign { kind = .foreign }
    }
    return kind
  }
}
