package import LarderBasics
package import LarderDisk
package import LarderSystem

/// A directory of recorded entries that is checked in with tests: the files as in a cache, a
/// manifest with what git does not keep, and a `.gitattributes`.
///
/// It is never opened as a cache, only read, copied from and recorded into.
package struct FixtureDirectory: Sendable {
  /// The path that it was opened by.
  package let path: String
  package let handle: DirectoryHandle
  /// The time for which a writer waits for another one.
  var patience = Duration.seconds(60)

  /// The time at which the clock of an empty fixture starts: 2027-01-15T08:00:00Z.
  package static let start = Timestamp(seconds: 1_800_000_000)
  /// The length of the longest value that a read takes.
  package static let longestValue = DiskCache.Configuration().sizeLimit ?? .max

  /// Opens a fixture.
  ///
  /// - Parameter makesDirectory: Whether a missing directory is made.
  /// - Throws: `CacheError`: `.directoryMissing`, `.notADirectory`, `.permissionDenied`, `.io`.
  package init(
    _ path: String, makesDirectory: Bool = false, faults: FaultInjector? = nil
  ) throws(CacheError) {
    self.path = path
    handle = try onFixture(path, "open") { () throws(Errno) in
      if makesDirectory { return try Self.make(path, faults) }
      return try .open(path: path, faults: faults)
    }
  }

  /// Opens a directory, and makes it and those above it, for all to read, where they are missing.
  /// What root makes belongs to the owner of the directory above, who has to use it.
  static func make(_ path: String, _ faults: FaultInjector?) throws(Errno) -> DirectoryHandle {
    do throws(Errno) {
      return try .open(path: path, faults: faults)
    } catch .noSuchFile {}
    let names = path.split(separator: "/").map(String.init)
    let parent = (path.hasPrefix("/") ? "/" : "./") + names.dropLast().joined(separator: "/")
    guard let name = names.last, parent != path else { throw .noSuchFile }
    let above = try make(parent, faults)
    do throws(Errno) {
      try DirectoryHandle.make(name, below: above, permissions: 0o755, faults: faults)
    } catch .fileExists {
      return try .open(path: path, faults: faults)
    }
    let made = try above.openDirectory(name)
    guard ProcessIdentity.user == 0 && above.owner != 0 else { return made }
    try made.descriptor.setOwner(above.owner, group: above.group)
    // Opened again, because a handle has the owner of its opening.
    return try above.openDirectory(name)
  }

  /// Returns the names of the entries, sorted, whether the manifest lists them or not.
  package func names() throws(Errno) -> [EntryName] {
    var names: [EntryName] = []
    for case let name? in try fileNames().map(EntryName.init(_:)) {
      // A file removed meanwhile is skipped, because a cache can be using the directory.
      if try hasEntry(name) { names.append(name) }
    }
    return names.sorted()
  }

  func fileNames() throws(Errno) -> [FileName] {
    let stream = try DirectoryStream(handle.reopen())
    var names: [FileName] = []
    while let found = try stream.next() { if case .name(let name) = found { names.append(name) } }
    return names
  }

  /// Whether there is an entry of a name.
  func hasEntry(_ name: EntryName) throws(Errno) -> Bool {
    try handle.statusIfPresent(of: name.fileName)?.isRegular ?? false
  }

  /// Returns the kind of a directory from the view of a fixture; nil if there is none.
  ///
  /// As for a cache, except that a manifest makes it a fixture, and that it counts as empty with
  /// the files that git needs (`.gitattributes`, `.gitignore`, `.gitkeep`).
  package static func kind(ofDirectory path: String) throws(CacheError) -> DirectoryKind? {
    do throws(CacheError) {
      return try DirectoryKind(ofDirectory: path) { name in
        switch name.text {
        case FixtureManifest.fileName.text: isManifest(in: path) ? .cache : .foreign
        case ".gitattributes", ".gitignore", ".gitkeep": .empty
        default: .foreign
        }
      }
    } catch  where error.code == .directoryMissing {
      return nil
    }
  }

  /// Whether the manifest is one, because a file of that name can belong to another program.
  private static func isManifest(in path: String) -> Bool {
    do throws(CacheError) {
      _ = try FixtureDirectory(path).manifest()
      return true
    } catch {
      return false
    }
  }

  /// Returns the manifest; an empty one if there is none.
  ///
  /// - Throws: `CacheError`: `.invalidArgument` with the number of a malformed line.
  package func manifest() throws(CacheError) -> FixtureManifest {
    let text = try manifestText()
    do throws(FixtureManifest.Problem) {
      return try FixtureManifest(parsing: text)
    } catch {
      throw CacheError(
        .invalidArgument, operation: "open", path: "\(path)/manifest",
        underlying: "line \(error.lineNumber) is not the line of an entry")
    }
  }

  /// Returns the manifest; nil if it is another program's, with nothing like the line of an entry.
  ///
  /// - Throws: As `manifest()`.
  package func manifestIfOwn() throws(CacheError) -> FixtureManifest? {
    var text = ""
    do throws(CacheError) {
      text = try manifestText()
      return try manifest()
    } catch  where error.code == .invalidArgument {
      // Two fields, because one of them may be what does not read.
      if text.contains(" used=") || text.contains(" lifetime=") { throw error }
      return nil
    }
  }

  private func manifestText() throws(CacheError) -> String {
    try onFixture("\(path)/manifest", "open") { () throws(Errno) in
      do throws(Errno) {
        return try handle.text(of: FixtureManifest.fileName) ?? ""
      } catch .tooManyLinks {
        // A link could lead to any file, whose lines an error would print.
        throw .invalidArgument
      }
    }
  }
}

extension DirectoryHandle {
  /// Returns the text of a file; nil if there is none.
  package func text(of name: FileName) throws(Errno) -> String? {
    do throws(Errno) {
      let file = try openForReading(name)
      let status = try file.status()
      // A FIFO would read as empty, and a huge sparse file would be read for hours.
      guard status.isRegular else { throw .invalidArgument }
      guard status.byteCount <= 1 << 30 else { throw .fileTooLarge }
      let bytes = try file.read(upTo: Int(status.byteCount))
      return String(decoding: bytes, as: UTF8.self)
    } catch .noSuchFile {
      return nil
    }
  }
}

/// A function that gets the number of entries that are done, and of all.
package typealias FixtureProgress = (_ done: Int, _ total: Int) -> Void

/// Runs a step on the files of a fixture, and turns its error into that of an operation on a path.
package func onFixture<Result>(
  _ path: String, _ operation: String, _ step: () throws(Errno) -> Result
) throws(CacheError) -> Result {
  do throws(Errno) {
    return try step()
  } catch .invalidArgument {
    throw CacheError(
      .invalidArgument, operation: operation, path: path, underlying: "is no regular file")
  } catch .notSupported {
    // Only attributes can be unsupported here, and only if there are data to keep in them.
    throw CacheError(
      .extendedDataUnsupported, operation: operation, path: path, errno: .notSupported)
  } catch {
    throw CacheError(errno: error, operation: operation, path: path)
  }
}
