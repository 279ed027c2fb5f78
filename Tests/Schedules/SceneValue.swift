#if LARDER_SCHEDULES
  import Glibc

  @testable import Larder
  @testable import LarderDigest
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// Keys and values of scenes: a value says which store it came from.
  enum SceneValue {
    static func key(_ name: Character) -> String { "key \(name)" }

    /// The bytes of a value: eight digits, and the same byte again and again.
    static func bytes(_ value: Int, count: Int) -> [UInt8] {
      var text = String(value)
      while text.utf8.count < 8 { text = "0" + text }
      var bytes = Array(text.utf8)
      while bytes.count < count { bytes.append(filler(value)) }
      return bytes
    }

    private static func filler(_ value: Int) -> UInt8 { UInt8(truncatingIfNeeded: value &* 31) }

    /// Which store some bytes came from; nil for what no store has made.
    static func value(of bytes: [UInt8]) -> Int? {
      guard bytes.count >= 8, let value = Int(String(decoding: bytes[..<8], as: UTF8.self))
      else { return nil }
      let isWhole = bytes.dropFirst(8).allSatisfy { $0 == filler(value) }
      return isWhole ? value : nil
    }

    static func fileName(_ name: Character, ext: Int?) -> String {
      let digest = MD5.digest(of: Array(key(name).utf8).span)
      let bare = EntryName(digest: digest, fileExtension: .none).description
      return ext.map { "\(bare).e\($0)" } ?? bare
    }
  }

  /// Looks at the file system past the library, without a point.
  enum RawFiles {
    static func names(in directory: String) -> [String] {
      guard let stream = unsafe opendir(directory) else { return [] }
      defer { unsafe closedir(stream) }
      var names: [String] = []
      while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != "." && name != ".." { names.append(name) }
      }
      return names.sorted()
    }

    static func bytes(_ path: String) -> [UInt8]? {
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | 0o1000000)
      guard descriptor >= 0 else { return nil }
      defer { _ = close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      return count < 0 ? nil : Array(bytes[..<count])
    }

    static func byteCount(_ path: String) -> Int? {
      var status = stat()
      return unsafe lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether nobody has a file locked.
    static func isUnlocked(_ path: String) -> Bool {
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return true }
      defer { _ = close(descriptor) }
      return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    static func removeDirectory(_ path: String) {
      for name in names(in: path) { unlink("\(path)/\(name)") }
      rmdir(path)
    }

    /// Sets a file's stamps as `touch` does, which opens it for writing: for the kernel tells of a
    /// time of modification that is set alone as of a write. Nil leaves one as it is.
    static func setTimes(_ path: String, access: Timestamp?, modification: Timestamp?) {
      let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return }
      defer { _ = close(descriptor) }
      let times = [
        access?.timespec ?? Timestamp.omitted, modification?.timespec ?? Timestamp.omitted,
      ]
      unsafe futimens(descriptor, times)
      ScheduledFiles.touch(descriptor)
    }
  }
#endif
