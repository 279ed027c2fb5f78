/// A file that stays locked for as long as the object lives.
final class LockedFile: Sendable {
  private let file: FileDescriptor

  init(_ file: consuming FileDescriptor) {
    self.file = file
  }
}
