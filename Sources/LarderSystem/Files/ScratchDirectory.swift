#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A directory under the temporary one, with a name of its own, removed at the end of its life.
///
/// A process that is killed leaves it.
package final class ScratchDirectory: Sendable {
  /// The absolute path.
  package let path: String

  /// Makes the directory with 0700. Corresponds to `mkdtemp`.
  ///
  /// - Parameter name: What the name begins with.
  package init(_ name: String) throws(Errno) {
    let variable = SystemEnvironment.variable("TMPDIR") ?? ""
    let parent = variable.hasPrefix("/") ? variable : "/tmp"
    var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
    let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
      // The array is never empty, so the base address exists.
      unsafe mkdtemp(buffer.baseAddress.unsafelyUnwrapped) != nil
    }
    guard isMade else { throw Errno.current }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove() }

  /// Removes the directory and the files in it; doing so again does nothing.
  ///
  /// A cache's directory holds no directories of its own, so that one level is all. What cannot be
  /// removed stays: it lies where temporary things are cleaned up.
  package func remove() {
    do throws(Errno) {
      let handle = try DirectoryHandle.open(path: path, faults: nil)
      let stream = try DirectoryStream(handle.reopen())
      while case .name(let name)? = try stream.next() { try handle.unlink(name) }
      _ = try system(.unlinkat, nil) { unsafe path.withCString { unsafe rmdir($0) } }
    } catch {
      // Gone already, or somebody keeps something in it.
    }
  }
}
