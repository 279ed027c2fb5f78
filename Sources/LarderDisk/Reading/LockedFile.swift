package import LarderSystem

/// A file that stays locked for as long as the object lives.
package final class LockedFile: Sendable {
  let file: FileDescriptor
  private let forkCount = ProcessIdentity.forkCount

  package init(_ file: consuming FileDescriptor) {
    self.file = file
  }

  /// Unlocks the file, in the process that locked it.
  ///
  /// Closing alone would leave the lock to a child that was forked meanwhile, for as long as it
  /// lives: it has a descriptor of the same open file. See: man 2 flock.
  deinit {
    guard forkCount == ProcessIdentity.forkCount else { return }
    do throws(Errno) {
      try file.unlock()
    } catch {
      // The descriptor is closed next, which ends the lock unless there is such a child.
    }
  }
}
