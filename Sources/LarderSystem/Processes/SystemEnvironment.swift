import LarderLibc

/// Properties of the machine and the environment.
package enum SystemEnvironment {
  /// Returns the value of an environment variable; nil if it is not set. Corresponds to `getenv`.
  ///
  /// Bytes that are not UTF-8 become U+FFFD. The host must not change the environment in another
  /// thread at the same time. See: man 3 getenv.
  package static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// The directory of the user's caches: `$XDG_CACHE_HOME`, or `~/.cache`. A path that is not
  /// absolute counts as not set. Source: the XDG Base Directory Specification.
  package static var cacheHome: String? {
    if let home = variable("XDG_CACHE_HOME"), home.hasPrefix("/") { return home }
    guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
    return home + "/.cache"
  }

  /// The bytes of memory that this process may use: the machine's, or less if its cgroup, one above
  /// it, or a limit of the process itself sets less.
  ///
  /// Read at each call, from a few small files, so it is for making a configuration and not for a
  /// hot path. Corresponds to `sysconf(_SC_PHYS_PAGES)`.
  package static var memoryLimit: Int {
    let pageSize = UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
    let physical = UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * pageSize
    let limits = [CgroupMemory.limit].compactMap(\.self) + memoryResources.compactMap(limit)
    return Int(clamping: limits.reduce(physical, min))
  }

  /// Whether a value of a length may be read into memory. A longer one is read by its descriptor.
  ///
  /// The limit is half of the memory that the process may use, because decoding a value needs it
  /// twice. Values of up to 4 MiB are allowed without reading the limit from some small files.
  package static func mayHold(_ byteCount: UInt64) -> Bool {
    byteCount <= 4 << 20 || byteCount <= UInt64(memoryLimit / 2)
  }

  /// Whether the machine can swap memory out: a line of `/proc/swaps` after its head.
  static var maySwap: Bool { text(ofFile: "/proc/swaps")?.split(separator: "\n").count != 1 }

  #if canImport(Glibc)
    private static let memoryResources = [RLIMIT_AS, RLIMIT_DATA].map { Int32($0.rawValue) }
  #else
    private static let memoryResources = [RLIMIT_AS, RLIMIT_DATA]
  #endif

  /// Returns the soft limit of a resource in bytes. Corresponds to `getrlimit`.
  private static func limit(_ resource: Int32) -> UInt64? {
    var limit = rlimit()
    return unsafe getrlimit(resource, &limit) == 0 ? UInt64(limit.rlim_cur) : nil
  }

  /// Whether an open file has a path by its number, as `/proc/self/fd/N`.
  package static var hasDescriptorPaths: Bool { unsafe access("/proc/self/fd", F_OK) == 0 }

  /// Returns the content of a text file, as those under `/proc`; nil if it cannot be read.
  ///
  /// Reads up to 4 MiB, more than the tables of mounts and of locks have on any sensible machine. A
  /// longer file is cut off, not refused.
  package static func text(ofFile path: String) -> String? {
    do throws(Errno) {
      let file = try FileDescriptor.open(source: path, faults: nil)
      // In pieces, because most of these files are short and none tells its length.
      var (bytes, piece): ([UInt8], [UInt8]) = ([], [])
      repeat {
        piece = try file.read(upTo: 65_536)
        bytes += piece
      } while piece.count == 65_536 && bytes.count < 4 << 20
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      return nil
    }
  }
}

/// The memory limit of the cgroup that this process is in. Source: the kernel's documentation of
/// cgroup v2, `memory.max`, and of v1, `memory.limit_in_bytes`.
enum CgroupMemory {
  /// The smallest limit in bytes of the process's group and all above it; nil if there is none.
  ///
  /// Read again each time, from up to one file per level of the hierarchy, because a limit can
  /// change while the process runs. The caller decides when to read it. In a cgroup namespace the
  /// path may not exist below the mount; then only the existing levels are read.
  static var limit: UInt64? {
    guard let groups = SystemEnvironment.text(ofFile: "/proc/self/cgroup") else { return nil }
    return groups.split(separator: "\n").compactMap(limit(ofGroup:)).min()
  }

  /// Returns the limit of a line `ID:CONTROLLERS:PATH`.
  private static func limit(ofGroup line: Substring) -> UInt64? {
    let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3 else { return nil }
    if fields[1].isEmpty {
      return smallest("/sys/fs/cgroup", String(fields[2]), "memory.max")
    }
    guard fields[1].split(separator: ",").contains("memory") else { return nil }
    return smallest("/sys/fs/cgroup/memory", String(fields[2]), "memory.limit_in_bytes")
  }

  /// Returns the smallest limit of a group and all above it, each of which bounds the process.
  private static func smallest(_ root: String, _ group: String, _ file: String) -> UInt64? {
    var components = group.split(separator: "/")
    var smallest: UInt64?
    while true {
      let path = ([Substring(root)] + components + [Substring(file)]).joined(separator: "/")
      // A number, or `max`, which means no limit. v1 has a number near 2⁶³ in place of `max`; the
      // caller's minimum with the machine's memory treats both alike.
      let text = SystemEnvironment.text(ofFile: path) ?? ""
      if let limit = UInt64(text.prefix { $0.isASCII && $0.isNumber }) {
        smallest = min(smallest ?? limit, limit)
      }
      if components.isEmpty { return smallest }
      components.removeLast()
    }
  }
}
