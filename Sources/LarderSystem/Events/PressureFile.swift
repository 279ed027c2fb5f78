#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// The kernel's files about the time that tasks wait for memory (PSI). Source: the kernel's
/// Documentation/accounting/psi.rst.
package enum PressureFile {
  /// The file for the whole machine.
  package static let machine = "/proc/pressure/memory"

  /// The possible files of this process's own cgroup; the second is for version 2 beside version 1.
  package static var ownGroup: [String] {
    groupFiles(SystemEnvironment.text(ofFile: "/proc/self/cgroup") ?? "")
  }

  /// Returns the possible files of a process with a given content of `/proc/self/cgroup`.
  ///
  /// The line of version 2 is `0::PATH`. Source: man 7 cgroups.
  static func groupFiles(_ groups: String) -> [String] {
    guard let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else {
      return []
    }
    let group = line.dropFirst(3).split(separator: "/")
    return ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map { root in
      ([Substring(root)] + group + ["memory.pressure"]).joined(separator: "/")
    }
  }

  /// Asks the kernel to signal when tasks waited for `threshold` within a window, and returns the
  /// descriptor for these signals.
  ///
  /// Without privileges the window must be a multiple of 2 s. See: psi.rst, "Monitoring for
  /// pressure thresholds". Corresponds to `open` and `write`.
  package static func trigger(
    _ path: String, threshold: Duration, window: Duration
  ) throws(Errno) -> PressureSource {
    let descriptor = try Path(path).open(flags: O_RDWR | O_NONBLOCK)
    // The kernel needs the whole text in one call, including its NUL.
    let text = "some \(threshold.microseconds) \(window.microseconds)\0"
    try descriptor.write(Array(text.utf8).span)
    return PressureSource(descriptor, tells: .withPriority)
  }
}

extension Duration {
  fileprivate var microseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }
}
