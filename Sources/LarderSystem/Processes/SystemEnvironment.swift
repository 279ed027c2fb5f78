#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// What the machine and the environment say.
package enum SystemEnvironment {
  /// The value of an environment variable, nil when it is not set. Corresponds to `getenv`.
  ///
  /// Bytes that are not UTF-8 come out as U+FFFD. A thread of the host that changes the environment
  /// at the same time is the host's mistake. See: man 3 getenv.
  package static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// The bytes of memory the machine has. Corresponds to `sysconf(_SC_PHYS_PAGES)`.
  static var physicalMemory: UInt64 {
    UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
  }

  /// Where the user's caches are: `$XDG_CACHE_HOME`, or `~/.cache`; a path that is not absolute
  /// counts as not set. Source: the XDG Base Directory Specification.
  package static var cacheHome: String? {
    if let home = variable("XDG_CACHE_HOME"), home.hasPrefix("/") { return home }
    guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
    return home + "/.cache"
  }

  /// The bytes of memory this process may use: the machine's, or fewer if its cgroup or one above
  /// it, or a limit of the process itself, says so.
  ///
  /// Read at each call, from a handful of small files: for the making of a configuration, not for a
  /// hot path.
  package static var memoryLimit: Int {
    let physical = physicalMemory
    let limits = [CgroupMemory.limit].compactMap(\.self) + memoryResources.compactMap(limit)
    return Int(clamping: limits.reduce(physical, min))
  }

  /// Whether a value of a length is read into memory; a longer one can be read through its
  /// descriptor.
  ///
  /// Half of what the process may use is the most: whoever decodes a value has it twice. Short ones
  /// are not worth the question, which takes some small files.
  package static func mayHold(_ byteCount: UInt64) -> Bool {
    byteCount <= 4 << 20 || byteCount <= UInt64(memoryLimit / 2)
  }

  #if canImport(Glibc)
    private static let memoryResources = [RLIMIT_AS, RLIMIT_DATA].map { Int32($0.rawValue) }
  #else
    private static let memoryResources = [RLIMIT_AS, RLIMIT_DATA]
  #endif

  /// The soft limit of a resource in bytes. Corresponds to `getrlimit`.
  private static func limit(_ resource: Int32) -> UInt64? {
    var limit = rlimit()
    return unsafe getrlimit(resource, &limit) == 0 ? UInt64(limit.rlim_cur) : nil
  }

  /// Whether an open file can be reached by its number, as `/proc/self/fd/N`.
  package static var hasDescriptorPaths: Bool { unsafe access("/proc/self/fd", F_OK) == 0 }

  /// The first bytes of a small text file such as those under `/proc`, nil when it cannot be read.
  ///
  /// 64 KiB in full: what lies under `/proc` and `/sys` is shorter, and a longer file is cut, not
  /// refused.
  package static func text(ofFile path: String) -> String? {
    let raw = unsafe path.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
    guard raw >= 0 else { return nil }
    let descriptor = FileDescriptor(rawValue: raw, faults: nil)
    do throws(Errno) {
      return String(decoding: try descriptor.read(upTo: 65_536), as: UTF8.self)
    } catch {
      return nil
    }
  }
}
