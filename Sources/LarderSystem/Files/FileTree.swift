/// The files below a directory.
package enum FileTree {
  /// The paths of up to so many regular files that anybody may read, in the order of their names,
  /// directory by directory. What cannot be read is left out, and links are not followed.
  package static func readableFiles(
    under root: String, byteCounts: ClosedRange<Int>, limit: Int
  ) -> [String] {
    var files: [String] = []
    var directories = [root]
    var next = 0
    while next < directories.count, files.count < limit {
      let (found, below) = contents(of: directories[next], byteCounts)
      files += found.prefix(limit - files.count)
      directories += below
      next += 1
    }
    return files
  }

  /// What one directory holds, its own files and directories apart, sorted, so that a demo shows
  /// the same on every run.
  private static func contents(
    of path: String, _ byteCounts: ClosedRange<Int>
  ) -> (files: [String], directories: [String]) {
    var (files, directories): ([String], [String]) = ([], [])
    do throws(Errno) {
      let handle = try DirectoryHandle.open(path: path, faults: nil)
      let stream = try DirectoryStream(handle.reopen())
      while let found = try stream.next() {
        // Hidden files and directories are left out: they are rarely what somebody wants shown.
        guard case .name(let name) = found, name[0] != UInt8(ascii: ".") else { continue }
        let status = try handle.status(of: name)
        if status.isDirectory { directories.append("\(path)/\(name.text)") }
        let isWanted = status.permissions & 0o004 != 0 && byteCounts ~= Int(status.byteCount)
        if status.isRegular && isWanted { files.append("\(path)/\(name.text)") }
      }
    } catch {
      // What was found so far will do.
    }
    return (files.sorted(), directories.sorted())
  }
}
