import Larder
import LarderDisk
import LarderFixtures
import LarderSystem

extension Call {
  /// Returns whether the directory is a cache, empty or foreign; nil if it does not exist.
  func directoryKind(_ directory: [UInt8]? = nil) throws(Failure) -> DirectoryKind? {
    let path = try Self.path(of: directory ?? arguments.directory)
    return try onCache(directory) { () throws(CacheError) in
      do throws(CacheError) {
        return try DirectoryKind(ofDirectory: path)
      } catch  where error.code == .directoryMissing {
        return nil
      }
    }
  }

  /// Throws if the directory is missing or is no cache, before anything in it can be changed. The
  /// manifest of a fixture is enough, because its last entry may have been removed.
  func requireCache(_ directory: [UInt8]? = nil) throws(Failure) {
    let name = directory ?? arguments.directory
    let path = try Self.path(of: name)
    let kind = try onCache(directory) { () throws(CacheError) in
      try FixtureDirectory.kind(ofDirectory: path)
    }
    switch kind {
    case .cache, .empty: return
    case .foreign: throw .notACache(name, cure: try cure(forForeign: name))
    case nil: throw .missing(name)
    }
  }

  /// Returns whether more than names shows that the directory is a cache, and whether it is a
  /// fixture.
  func proof() throws(Failure) -> (isProven: Bool, isFixture: Bool) {
    let path = try Self.path(of: arguments.directory)
    return try onFixture { () throws(CacheError) in
      (try DirectoryKind.isProven(ofDirectory: path), try FixtureCopy.isFixture(path))
    }
  }

  /// Returns the remedy for a directory of other things, with up to three of the caches that lie in
  /// it: one of them may be meant.
  private func cure(forForeign directory: [UInt8]) throws(Failure) -> String? {
    let path = try Self.path(of: directory)
    var caches: [String] = []
    _ = try onCache(directory) { () throws(CacheError) in
      try DirectoryKind(ofDirectory: path) { name in
        let path = path.hasSuffix("/") ? path + name.text : "\(path)/\(name.text)"
        if Self.isCache(path) { caches.append(Array(path.utf8).quotedForDisplay) }
        return .foreign
      }
    }
    guard !caches.isEmpty else { return nil }
    let named = caches.sorted().prefix(3).joined(separator: ", ")
    return "name the directory of a cache, such as \(named)"
  }

  /// Returns the remedy for a directory of other things that a verb would take if asked to. One to
  /// which others may write, such as /tmp, would be refused even then.
  func adoption(of directory: [UInt8], _ option: String) throws(Failure) -> String {
    let cache = try open(directory) { $0.mode = .readOnly }
    return cache.statistics.isDirectoryUnsafe
      ? "use a directory of your own" : "\(option) takes it"
  }

  /// Whether a path is a cache. What cannot be looked at counts as none.
  private static func isCache(_ path: String) -> Bool {
    do throws(CacheError) {
      return try DirectoryKind(ofDirectory: path) == .cache
    } catch {
      return false
    }
  }
}

extension DirectoryKind {
  /// Whether more than names shows that a directory is a cache: its tag, or the attribute of each
  /// entry. Other programs name files by an MD5 too, as thumbnails are. True where none has such a
  /// name.
  ///
  /// - Throws: As ``init(ofDirectory:with:)``.
  fileprivate static func isProven(ofDirectory path: String) throws(CacheError) -> Bool {
    try attempt("open", at: path, isProven(DirectoryHandle.open(path: path, faults: nil)))
  }

  private static func isProven(_ handle: DirectoryHandle) throws(Errno) -> Bool {
    switch try DirectoryMaking.tagFinding(handle) {
    case .own, .blank: return true
    case .missing, .foreign: break
    }
    let stream = try DirectoryStream(handle.reopen())
    while let found = try stream.next() {
      guard case .name(let name) = found, EntryName(name) != nil else { continue }
      do throws(Errno) {
        var hasAttribute = false
        try handle.openForReading(name).withAttribute(.entry) { _ in hasAttribute = true }
        // One entry that was put there does not vouch for what was there before.
        if !hasAttribute { return false }
      } catch .noSuchFile {
        // Removed meanwhile.
      } catch {
        return false
      }
    }
    return true
  }
}
