/// The memory limit of the cgroup that this process is in. Source: the kernel's documentation of
/// cgroup v2, `memory.max`, and of v1, `memory.limit_in_bytes`.
enum CgroupMemory {
  /// The smallest limit in bytes of the process's group and all groups above it; nil if there is
  /// none.
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

  /// Returns the smallest limit of a group and all groups above it: each of them bounds the
  /// process, and the innermost is often `max`.
  private static func smallest(_ root: String, _ group: String, _ file: String) -> UInt64? {
    var components = group.split(separator: "/")
    var smallest: UInt64?
    while true {
      let path = ([Substring(root)] + components + [Substring(file)]).joined(separator: "/")
      if let limit = number(inFile: path) { smallest = min(smallest ?? limit, limit) }
      if components.isEmpty { return smallest }
      components.removeLast()
    }
  }

  /// Returns the number in a file; nil for `max`, which means no limit.
  private static func number(inFile path: String) -> UInt64? {
    guard let text = SystemEnvironment.text(ofFile: path) else { return nil }
    // v1 has a number near 2⁶³ in place of `max`; the caller's minimum with the machine's memory
    // treats both alike.
    return UInt64(text.prefix { $0.isASCII && $0.isNumber })
  }
}
