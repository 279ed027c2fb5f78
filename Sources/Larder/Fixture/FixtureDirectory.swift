/// A directory of recorded entries that is checked in with tests: the files as a cache has them, a
/// manifest of what git does not keep, and a `.gitattributes`.
///
/// Nothing here opens it as a cache: it is read, copied from and recorded into.
package struct FixtureDirectory: Sendable {
  /// The path that it was opened by.
  package let path: String
  let handle: DirectoryHandle

  /// Where the clock stands of a fixture that holds nothing: 2027-01-15T08:00:00Z.
  package static let start = Timestamp(seconds: 1_800_000_000)

  /// Opens a fixture.
  ///
  /// - Parameter makesDirectory: Whether a missing directory is made.
  /// - Throws: `CacheError`: `.directoryMissing`, `.notADirectory`, `.permissionDenied`, `.io`.
  package init(_ path: String, makesDirectory: Bool = false) throws(CacheError) {
    self.path = path
    handle = try onFixture(path, "open") { () throws(Errno) in
      do throws(Errno) {
        return try DirectoryHandle.open(path: path, faults: nil)
      } catch .noSuchFile where makesDirectory {
        _ = try DirectoryMaking.makeDirectories(
          path, permissions: 0o755, DiskCache.Configuration())
        return try DirectoryHandle.open(path: path, faults: nil)
      }
    }
  }

  /// The names of the entries, sorted, whether the manifest lists them or not.
  func names() throws(Errno) -> [EntryName] {
    let stream = try DirectoryStream(handle.reopen())
    var names: [EntryName] = []
    while let found = try stream.next() {
      guard case .name(let fileName) = found, let name = EntryName(fileName) else { continue }
      if try handle.status(of: fileName).isRegular { names.append(name) }
    }
    return names.sorted()
  }

  /// Whether there is an entry of a name.
  func hasEntry(_ name: EntryName) throws(Errno) -> Bool {
    do throws(Errno) {
      return try handle.status(of: name.fileName).isRegular
    } catch .noSuchFile {
      return false
    }
  }

  /// The manifest; an empty one where there is none.
  ///
  /// - Throws: `CacheError`: `.invalidArgument` with the number of a line that is none.
  package func manifest() throws(CacheError) -> FixtureManifest {
    let text = try onFixture(path, "open") { () throws(Errno) in
      try self.text(of: FixtureManifest.fileName) ?? ""
    }
    do throws(FixtureManifest.Problem) {
      return try FixtureManifest(parsing: text)
    } catch {
      throw CacheError(
        .invalidArgument, operation: "open", path: "\(path)/manifest",
        underlying: "line \(error.lineNumber) \(error.complaint)")
    }
  }

  /// The text of a file, nil where there is none.
  func text(of name: FileName) throws(Errno) -> String? {
    do throws(Errno) {
      let file = try handle.openForReading(name)
      let bytes = try file.read(upTo: Int(try file.status().byteCount))
      return String(decoding: bytes, as: UTF8.self)
    } catch .noSuchFile {
      return nil
    }
  }
}

/// Takes a step on the files of a fixture, whose failure is one of an operation on its path.
func onFixture<Result>(
  _ path: String, _ operation: String, _ step: () throws(Errno) -> Result
) throws(CacheError) -> Result {
  do throws(Errno) {
    return try step()
  } catch .notSupported {
    // What is not supported here are attributes, and only where data needs them.
    throw CacheError(
      .extendedDataUnsupported, operation: operation, path: path, errno: .notSupported)
  } catch {
    throw CacheError(errno: error, operation: operation, path: path)
  }
}
