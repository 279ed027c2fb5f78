import LarderLibc

/// A directory with a unique name in the temporary directory, removed when the object is released.
///
/// A killed process leaves it, and a forked child leaves it to its parent.
package final class ScratchDirectory: Sendable {
  /// The absolute path.
  package let path: String
  private let forkCount = ProcessIdentity.forkCount

  /// The temporary directory: that of `TMPDIR`, else `/tmp`.
  package static var parent: String {
    let variable = SystemEnvironment.variable("TMPDIR") ?? ""
    return variable.hasPrefix("/") ? variable : "/tmp"
  }

  /// Makes the directory with mode 0700. Corresponds to `mkdtemp`.
  ///
  /// - Parameter name: The beginning of the directory's name.
  package init(_ name: String) throws(Errno) {
    var template = Array("\(Self.parent)/\(name)-XXXXXX".utf8CString)
    let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
      // The array is never empty, so the base address exists.
      unsafe mkdtemp(buffer.baseAddress.unsafelyUnwrapped) != nil
    }
    guard isMade else { throw Errno.current }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { if forkCount == ProcessIdentity.forkCount { remove() } }

  /// Removes the directory and the files in it. A second call does nothing.
  ///
  /// Removes one level only, because a cache's directory contains no directories. What cannot be
  /// removed stays, in a place where temporary files are cleaned up.
  package func remove() {
    do throws(Errno) {
      let handle = try DirectoryHandle.open(path: path, faults: nil)
      let stream = try DirectoryStream(handle.reopen())
      while let found = try stream.next() {
        guard case .name(let name) = found else { continue }
        // The directory stays with what cannot be removed, and `rmdir` reports that.
        do throws(Errno) { try handle.unlink(name) } catch {}
      }
      _ = try system(.unlinkat, nil) { unsafe path.withCString { unsafe rmdir($0) } }
    } catch {
      // It is gone already, or contains something that cannot be removed.
    }
  }
}
