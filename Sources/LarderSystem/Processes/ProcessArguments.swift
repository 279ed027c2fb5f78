#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The command line as the kernel passed it.
///
/// `CommandLine.arguments` replaces every byte that is not UTF-8 by U+FFFD, so a key or a path from
/// it could name another value or file.
package enum ProcessArguments {
  /// The bytes of every argument without the final NUL, the program's own name first.
  ///
  /// Corresponds to `main`'s `argv`. See: man 2 execve.
  package static var raw: [[UInt8]] {
    // Swift's runtime reads the arguments from /proc, and finds none if that is not mounted.
    guard CommandLine.argc > 0 else { return belowEnvironment }
    return (0..<Int(CommandLine.argc)).map { index in
      guard let start = unsafe CommandLine.unsafeArgv[index] else { return [] }
      return unsafe bytes(start)
    }
  }

  /// The arguments on the initial stack: right below the environment, with a zero in between, and
  /// their number below the first. The number ends the loop, because no pointer is that small.
  ///
  /// Source: System V ABI, process initialization. Valid until the environment is changed.
  private static var belowEnvironment: [[UInt8]] {
    // The word below the environment is the null after the arguments.
    var slot = unsafe environ - 2
    var arguments: [[UInt8]] = []
    while let start = unsafe slot.pointee, arguments.count < Int(bitPattern: start) {
      unsafe arguments.append(bytes(start))
      unsafe slot -= 1
    }
    return arguments.reversed()
  }

  private static func bytes(_ start: UnsafePointer<CChar>) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
  }
}
