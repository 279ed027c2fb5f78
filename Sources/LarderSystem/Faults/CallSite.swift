/// A place in the source from which a system call is made, so that a test can tell that none was
/// left out.
package struct CallSite: Sendable, Hashable {
  /// The module and the file: `Larder/FileDescriptor.swift`.
  package let file: String
  /// The line, counted from 1.
  package let line: UInt

  /// Creates a place.
  package init(file: String, line: UInt) {
    self.file = file
    self.line = line
  }
}
