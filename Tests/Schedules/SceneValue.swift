#if LARDER_SCHEDULES
  import Glibc

  @testable import Larder
  @testable import LarderDigest
  @testable import LarderDisk
  @testable import LarderMemory
  @testable import LarderSystem

  /// The keys and values of scenes. Each value tells its store.
  enum SceneValue {
    static func key(_ name: Character) -> String { "key \(name)" }

    /// The value of bytes that come from no store, in scenes where an outsider writes into files.
    static let torn = -1

    /// Returns the bytes of a value: eight digits, then a repeated byte.
    static func bytes(_ value: Int, count: Int) -> [UInt8] {
      var text = String(value)
      while text.utf8.count < 8 { text = "0" + text }
      var bytes = Array(text.utf8)
      while bytes.count < count { bytes.append(filler(value)) }
      return bytes
    }

    private static func filler(_ value: Int) -> UInt8 { UInt8(truncatingIfNeeded: value &* 31) }

    /// Returns the number of the store that some bytes came from; nil if no store made them.
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

  /// Direct access to the file system, without the library and without a scheduling point.
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

    /// Returns all bytes of a file; none if there is no such file.
    static func all(_ path: String) -> [UInt8] {
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return [] }
      defer { _ = close(descriptor) }
      var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
      while case let count = unsafe read(descriptor, &piece, piece.count), count > 0 {
        all += piece[..<count]
      }
      return all
    }

    static func byteCount(_ path: String) -> Int? {
      var status = stat()
      return unsafe lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    static func lastAccess(_ path: String) -> Timestamp? { status(path)?.access }

    /// What a file is, and its two times; nil if there is none.
    static func status(_ path: String) -> Status? {
      var status = stat()
      guard unsafe lstat(path, &status) == 0 else { return nil }
      return Status(
        byteCount: Int(status.st_size), inode: UInt64(status.st_ino),
        access: Timestamp(
          seconds: Int64(status.st_atim.tv_sec), nanoseconds: Int64(status.st_atim.tv_nsec)),
        modification: Timestamp(
          seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec)),
        path: path)
    }

    struct Status {
      let byteCount: Int
      let inode: UInt64
      let (access, modification): (Timestamp, Timestamp)
      let path: String

      var expiry: Timestamp { modification.asExpiry }
      var bytes: [UInt8]? { RawFiles.bytes(path) }
    }

    /// Gives a file another change time, as `chown` does.
    static func noteChange(_ path: String) {
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | 0o1000000)
      guard descriptor >= 0 else { return }
      ScheduledFiles.touch(descriptor)
      close(descriptor)
    }

    /// Whether no process has a file locked.
    static func isUnlocked(_ path: String) -> Bool {
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return true }
      defer { _ = close(descriptor) }
      return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Whether an open file has a lock on a byte of a file, as `F_OFD_SETLK` sets it.
    static func hasLockedByte(_ path: String) -> Bool {
      let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { return false }
      defer { _ = close(descriptor) }
      var lock = Glibc.flock(
        l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
      guard unsafe fcntl(descriptor, 36, &lock) == 0 else { return false }
      return Int32(lock.l_type) != F_UNLCK
    }

    static func removeDirectory(_ path: String) {
      for name in names(in: path) { unlink("\(path)/\(name)") }
      rmdir(path)
    }

    /// Gives a path a file that was made elsewhere, as `mv` does.
    static func plant(_ bytes: [UInt8], _ path: String, until expiry: Timestamp) {
      let aside = path + ".new"
      write(bytes, aside)
      setTimes(aside, access: ScheduledFiles.wallTime, modification: expiry)
      rename(aside, path)
    }

    /// Makes a file, or gives it another content.
    static func write(_ bytes: [UInt8], _ path: String) {
      let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return }
      _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
      close(descriptor)
    }

    /// Writes into a file in two steps, as `cp` does: it is emptied, and then filled.
    ///
    /// - Returns: Whether there was a file.
    static func overwrite(_ path: String, _ bytes: [UInt8]) -> Bool {
      let descriptor = Glibc.open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
      guard descriptor >= 0 else { return false }
      defer { _ = close(descriptor) }
      ScheduledFiles.touch(descriptor)
      Scheduler.noteKernelChange()
      Scheduler.point(.look)
      _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
      ScheduledFiles.touch(descriptor)
      return true
    }

    /// Changes a byte of a file, and none of its stamps, as a disk does that goes bad.
    ///
    /// - Returns: Whether there was a file.
    static func damage(_ path: String) -> Bool {
      guard let before = status(path) else { return false }
      let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return false }
      // Another byte than those before it, also when it was damaged already.
      let filler = bytes(path)?.dropFirst(8).first ?? 0
      unsafe pwrite(descriptor, [~filler], 1, before.byteCount - 1)
      close(descriptor)
      return setTimes(path, access: before.access, modification: before.modification)
    }

    /// Gives a file another path.
    ///
    /// - Returns: Whether there was a file.
    static func move(_ path: String, to other: String) -> Bool {
      guard rename(path, other) == 0 else { return false }
      noteChange(other)
      return true
    }

    /// Sets a file's stamps as `touch` does; nil leaves a stamp unchanged. The file is opened for
    /// writing, because the kernel then reports a change of the modification time alone as a write.
    ///
    /// - Returns: Whether there was a file.
    @discardableResult
    static func setTimes(_ path: String, access: Timestamp?, modification: Timestamp?) -> Bool {
      let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return false }
      defer { _ = close(descriptor) }
      let times = [
        access?.timespec ?? Timestamp.omitted, modification?.timespec ?? Timestamp.omitted,
      ]
      unsafe futimens(descriptor, times)
      ScheduledFiles.touch(descriptor)
      return true
    }
  }

  /// The file of a value that a scene begins with.
  struct SavedFile: Sendable {
    let name: Character
    let value: Int
    private let path: String
    private let bytes: [UInt8]
    private var attribute = [UInt8](repeating: 0, count: 4_096)
    private var status = stat()

    /// Takes in a file as it is now.
    init(_ path: String, _ name: Character, value: Int) {
      (self.path, self.name, self.value) = (path, name, value)
      bytes = RawFiles.bytes(path) ?? []
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | 0o1000000)
      defer { _ = close(descriptor) }
      unsafe fstat(descriptor, &status)
      let count = unsafe c_fgetxattr(descriptor, Self.attributeName, &attribute, attribute.count)
      attribute.removeLast(attribute.count - max(0, count))
    }

    private static let attributeName = "user.larder"

    /// Makes the file anew.
    func restore() {
      let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return }
      defer { _ = close(descriptor) }
      _ = unsafe write(descriptor, bytes, bytes.count)
      if !attribute.isEmpty {
        _ = unsafe c_fsetxattr(descriptor, Self.attributeName, attribute, attribute.count, 0)
      }
      let times = [status.st_atim, status.st_mtim]
      unsafe futimens(descriptor, times)
      ScheduledFiles.touch(descriptor)
    }
  }
#endif
