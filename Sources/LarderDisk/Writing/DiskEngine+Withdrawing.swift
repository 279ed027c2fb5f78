import LarderSystem

extension DiskEngine {
  /// Removes a file from its name, which the caller holds, if it is still the one that was judged.
  ///
  /// POSIX has no unlink by descriptor: between a look and an unlink another process can store, and
  /// its value would go. Here whatever has the name is moved aside first, and looked at where nobody
  /// else names it. What is not the judged file goes back, unless a newer one has come: a reader may
  /// miss it for that moment.
  ///
  /// The caller keeps the judged file open, so that no other file gets its inode number.
  ///
  /// - Returns: Whether it was removed; false when the name has none or another file now.
  func withdraw(
    _ name: FileName, _ judged: FileStatus, in handle: DirectoryHandle
  ) throws(Errno) -> Bool {
    // A directory could be moved and not be removed.
    if judged.isDirectory { throw .isDirectory }
    guard let aside = try moveAside(name, in: handle) else { return false }
    defer { aside.giveBack() }
    let status = try handle.status(of: aside.fileName)
    // A stamp says that somebody has given the file another expiry.
    if status.identity == judged.identity && status.modification == judged.modification {
      try handle.unlink(aside.fileName)
      return true
    }
    do throws(Errno) {
      try handle.renameExclusively(aside.fileName, to: name)
    } catch .fileExists {
      try handle.unlink(aside.fileName)
    }
    return false
  }

  /// Gives what has a name a temporary one; nil when nothing has it.
  private func moveAside(
    _ name: FileName, in handle: DirectoryHandle
  ) throws(Errno) -> TemporaryName? {
    while true {
      let aside = TemporaryName()
      do throws(Errno) {
        try handle.renameExclusively(name, to: aside.fileName)
        return aside
      } catch .noSuchFile {
        aside.giveBack()
        return nil
      } catch .fileExists {
        // Another process namespace shares the directory and our number: take the next.
      }
    }
  }
}
