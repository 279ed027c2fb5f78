import Glibc

/// The system calls that the cache is compared with: the fewest that give the same result.
///
/// Nothing else is done between them, except that a failure ends the program.
enum RawCalls {
  // A value of asm-generic/fcntl.h, which Glibc's module lacks.
  static let noAtime: Int32 = 0o1000000

  private typealias SetAttribute =
    @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32

  // Glibc's module lacks it. It is looked up once, so that a call costs no more than any other.
  private static let setAttribute: SetAttribute = {
    guard let symbol = unsafe dlsym(nil, "fsetxattr") else { fail("no fsetxattr in libc", 4) }
    return unsafe unsafeBitCast(symbol, to: SetAttribute.self)
  }()

  /// Ends the program with the name of a call and its error.
  static func failed(_ call: String) -> Never {
    fail("LarderBench: \(call): \(unsafe String(cString: strerror(errno)))", 4)
  }

  static func openDirectory(_ path: String) -> Int32 {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { failed("open \(path)") }
    return descriptor
  }

  /// Reads a whole file into a new array.
  @inline(__always)
  static func read(_ directory: Int32, _ name: UnsafePointer<CChar>) -> [UInt8] {
    let descriptor = unsafe openat(directory, name, O_RDONLY | O_CLOEXEC | noAtime)
    if descriptor < 0 { failed("openat") }
    var status = stat()
    if unsafe fstat(descriptor, &status) != 0 { failed("fstat") }
    let count = Int(status.st_size)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, count))
    }
    close(descriptor)
    return bytes
  }

  /// Tries to open a file that does not exist.
  @inline(__always)
  static func miss(_ directory: Int32, _ name: UnsafePointer<CChar>) {
    let descriptor = unsafe openat(directory, name, O_RDONLY | O_CLOEXEC | noAtime)
    if descriptor >= 0 { fail("LarderBench: a name that should be free is not", 4) }
  }

  /// Writes a file under a temporary name and renames it.
  @inline(__always)
  static func store(
    _ directory: Int32, _ name: UnsafePointer<CChar>, _ value: [UInt8], _ attribute: [UInt8],
    _ times: [timespec]
  ) {
    let temporary: StaticString = ".raw"
    temporary.withUTF8Buffer { buffer in
      let old = unsafe UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped)
        .assumingMemoryBound(to: CChar.self)
      let descriptor = unsafe openat(
        directory, old, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
      if descriptor < 0 { failed("openat") }
      if unsafe write(descriptor, value, value.count) != value.count { failed("write") }
      setEntryAttribute(descriptor, attribute)
      if unsafe futimens(descriptor, times) != 0 { failed("futimens") }
      close(descriptor)
      if unsafe renameat(directory, old, directory, name) != 0 { failed("renameat") }
    }
  }

  /// Sets `user.larder`. Ignores filesystems without attributes, as the cache does.
  @inline(__always)
  private static func setEntryAttribute(_ descriptor: Int32, _ attribute: [UInt8]) {
    let name: StaticString = "user.larder"
    let text = unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    let code = unsafe setAttribute(descriptor, text, attribute, attribute.count, 0)
    if code != 0 && errno != EOPNOTSUPP { failed("fsetxattr") }
  }

  @inline(__always)
  static func remove(_ directory: Int32, _ name: UnsafePointer<CChar>) {
    if unsafe unlinkat(directory, name, 0) != 0 { failed("unlinkat") }
  }

  /// Lists a directory, gets the status of every name, and returns the bytes of all files.
  static func scan(_ directory: Int32) -> Int {
    let descriptor = unsafe openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | noAtime)
    guard descriptor >= 0, let stream = unsafe fdopendir(descriptor) else { failed("fdopendir") }
    defer { unsafe closedir(stream) }
    var total = 0
    var status = stat()
    while let entry = unsafe readdir(stream) {
      let offset = unsafe MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped
      let name = unsafe (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
      if unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
        total += Int(status.st_size)
      }
    }
    return total
  }
}
