import LarderSystem

/// The files below a directory.
enum FileTree {
  /// Returns the paths of regular files that all users may read, up to `limit`, sorted by name
  /// within each directory. Files that cannot be read are left out, and links are not followed.
  static func readableFiles(
    under root: String, byteCounts: ClosedRange<Int>, limit: Int, faults: FaultInjector? = nil
  ) -> [String] {
    var files: [String] = []
    var directories = [root]
    var next = 0
    while next < directories.count, files.count < limit {
      let (found, below) = contents(of: directories[next], byteCounts, faults)
      files += found.prefix(limit - files.count)
      directories += below
      next += 1
    }
    return files
  }

  /// Returns the contents of one directory, files and directories apart, sorted so that a demo
  /// shows the same on every run.
  private static func contents(
    of path: String, _ byteCounts: ClosedRange<Int>, _ faults: FaultInjector?
  ) -> (files: [String], directories: [String]) {
    var (files, directories): ([String], [String]) = ([], [])
    do throws(Errno) {
      let handle = try DirectoryHandle.open(path: path, faults: faults)
      let stream = try DirectoryStream(handle.reopen())
      while let found = try stream.next() {
        // Hidden files and directories are left out, because a demo should rarely show them.
        guard case .name(let name) = found, name[0] != UInt8(ascii: ".") else { continue }
        // A file that was removed meanwhile is left out.
        guard let status = try handle.statusIfPresent(of: name) else { continue }
        if status.isDirectory { directories.append("\(path)/\(name.text)") }
        let isWanted = status.permissions & 0o004 != 0 && byteCounts ~= Int(status.byteCount)
        if status.isRegular && isWanted { files.append("\(path)/\(name.text)") }
      }
    } catch {
      // The files found so far are enough.
    }
    return (files.sorted(), directories.sorted())
  }
}
