import Glibc

/// The open descriptors and threads of this process, from `/proc/self`.
enum OpenResources {
  /// Returns the descriptors whose target contains a text, such as `memory.pressure`.
  static func descriptors(of target: String) -> [String] {
    names(in: "/proc/self/fd").filter { name in
      var buffer = [CChar](repeating: 0, count: 4_096)
      let count = unsafe readlink("/proc/self/fd/\(name)", &buffer, buffer.count - 1)
      guard count > 0 else { return false }
      return String(
        decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self
      ).contains(target)
    }
  }

  /// Those of the descriptors that cannot be written to. NFS refuses an exclusive lock on them.
  static func readOnlyDescriptors(of target: String) -> [String] {
    descriptors(of: target).filter { number in
      Int32(number).map { fcntl($0, F_GETFL) & O_ACCMODE == O_RDONLY } ?? false
    }
  }

  /// The numbers of the threads.
  static var threads: Set<String> { Set(names(in: "/proc/self/task")) }

  private static func names(in directory: String) -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
