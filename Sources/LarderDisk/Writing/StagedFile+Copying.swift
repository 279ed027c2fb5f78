package import LarderSystem

extension StagedFile {
  /// Takes the whole content of another file over, in the place of what this one has.
  ///
  /// By sharing its blocks or inside the kernel where the file system can, and in pieces through
  /// memory where it cannot. What is hashed is what arrived: a file that somebody writes to
  /// meanwhile gives a value that is whole, if not of one moment.
  ///
  /// - Complexity: O(bytes) for the hash, which reads the content once, in the memory of a piece.
  package mutating func copyContent(of source: borrowing FileDescriptor) throws(Errno) {
    // From the beginning in both, also after a try that ended in the middle.
    try startAgain(source)
    if sharesBlocks(of: source) { return try takeContent() }
    if try hasCopied(source) { return try takeContent() }
    try write(contentOf: source)
  }

  /// Whether the two files share their blocks now.
  private func sharesBlocks(of source: borrowing FileDescriptor) -> Bool {
    do throws(Errno) {
      try descriptor.clone(source)
      return true
    } catch {
      // Another file system, or one that cannot; ENOSPC and EIO show again in what is tried next.
      return false
    }
  }

  /// Whether the kernel has copied everything; if not, both files stand at their beginning.
  private mutating func hasCopied(_ source: borrowing FileDescriptor) throws(Errno) -> Bool {
    var count = 0
    do throws(Errno) {
      while true {
        let copied = try descriptor.copy(from: source, upTo: 1 << 30)
        if copied == 0 { break }
        count += copied
      }
    } catch .noSpace {
      throw .noSpace
    } catch {
      count = 0
    }
    // Files under /proc say that they are empty before they are read.
    if count == 0 { try startAgain(source) }
    return count > 0
  }

  private mutating func startAgain(_ source: borrowing FileDescriptor) throws(Errno) {
    try empty()
    try source.seek(to: 0)
  }
}
