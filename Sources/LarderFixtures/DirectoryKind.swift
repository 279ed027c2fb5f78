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

  /// Decides by the names alone. A foreign thing that is named like an entry makes it a cache.
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
