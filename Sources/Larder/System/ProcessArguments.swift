#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The command line as the kernel handed it over.
///
/// `CommandLine.arguments` replaces every byte that is not UTF-8 by U+FFFD, so that a key or a path
/// taken from it could name another one.
package enum ProcessArguments {
  /// The bytes of every argument without its final NUL, the program's own name first.
  ///
  /// Corresponds to `main`'s `argv`. See: man 2 execve.
  package static var raw: [[UInt8]] {
    (0..<Int(CommandLine.argc)).map { index in
      guard let start = unsafe CommandLine.unsafeArgv[index] else { return [] }
      let bytes = unsafe UnsafeRawBufferPointer(start: start, count: strlen(start))
      return unsafe Array(bytes)
    }
  }
}
