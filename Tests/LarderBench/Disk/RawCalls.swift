import Glibc
import LarderDigest

/// The system calls that the cache is compared with.
///
/// *Least work* is the fewest calls that store or read the same bytes; a caller gets no more from
/// plain files. *Same work* also writes or reads the attribute, hashes the content and locks the
/// temporary, as the cache does. Nothing else is done between the calls, except that a failure ends
/// the program.
enum RawCalls {
  // A value of asm-generic/fcntl.h, which Glibc's module lacks.
  static let noAtime: Int32 = 0o1000000

  private typealias SetAttribute =
    @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32
  private typealias GetAttribute =
    @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int

  // Glibc's module lacks them. They are looked up once, so that a call costs no more than another.
  private static let setAttribute = unsafe unsafeBitCast(
    symbol("fsetxattr"), to: SetAttribute.self)
  private static let getAttribute = unsafe unsafeBitCast(
    symbol("fgetxattr"), to: GetAttribute.self)

  private static func symbol(_ name: String) -> UnsafeMutableRawPointer {
    guard let symbol = unsafe dlsym(nil, name) else { fail("no \(name) in libc", 4) }
    return unsafe symbol
  }

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
    let descriptor = unsafe openFile(directory, name)
    let bytes = content(of: descriptor)
    close(descriptor)
    return bytes
  }

  /// Reads a whole file, its attribute, and the hash of its content.
  @inline(__always)
  static func readChecked(_ directory: Int32, _ name: UnsafePointer<CChar>) -> [UInt8] {
    let descriptor = unsafe openFile(directory, name)
    let attribute = entryAttribute(of: descriptor)
    let bytes = content(of: descriptor)
    let hash = XXH64(bytes.span).finalize()
    precondition(hash != 0 || attribute.isEmpty, "a hash of 0, which no content here has")
    close(descriptor)
    return bytes
  }

  @inline(__always)
  private static func openFile(_ directory: Int32, _ name: UnsafePointer<CChar>) -> Int32 {
    let descriptor = unsafe openat(directory, name, O_RDONLY | O_CLOEXEC | noAtime)
    if descriptor < 0 { failed("openat") }
    return descriptor
  }

  @inline(__always)
  private static func content(of descriptor: Int32) -> [UInt8] {
    var status = stat()
    if unsafe fstat(descriptor, &status) != 0 { failed("fstat") }
    let count = Int(status.st_size)
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, count))
    }
  }

  /// Tries to open a file that does not exist.
  @inline(__always)
  static func miss(_ directory: Int32, _ name: UnsafePointer<CChar>) {
    let descriptor = unsafe openat(directory, name, O_RDONLY | O_CLOEXEC | noAtime)
    if descriptor >= 0 { fail("LarderBench: a name that should be free is not", 4) }
  }

  /// Writes a file under a temporary name, stamps it and renames it.
  @inline(__always)
  static func store(
    _ directory: Int32, _ name: UnsafePointer<CChar>, _ value: [UInt8], _ times: [timespec]
  ) {
    unsafe store(directory, name, value, times) { _ in }
  }

  /// Writes a file likewise; also locks it, hashes the value and sets an attribute.
  @inline(__always)
  static func storeChecked(
    _ directory: Int32, _ name: UnsafePointer<CChar>, _ value: [UInt8], _ attribute: [UInt8],
    _ times: [timespec]
  ) {
    unsafe store(directory, name, value, times) { descriptor in
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { failed("flock") }
      let hash = XXH64(value.span).finalize()
      precondition(hash != 0, "a hash of 0, which no value here has")
      setEntryAttribute(descriptor, attribute)
    }
  }

  /// Stores a value so that it survives a power cut: syncs the file, and then the directory.
  static func storeDurably(
    _ directory: Int32, _ name: UnsafePointer<CChar>, _ value: [UInt8], _ times: [timespec]
  ) {
    unsafe store(directory, name, value, times, isDurable: true) { _ in }
  }

  @inline(__always)
  private static func store(
    _ directory: Int32, _ name: UnsafePointer<CChar>, _ value: [UInt8], _ times: [timespec],
    isDurable: Bool = false, more: (Int32) -> Void
  ) {
    let temporary: StaticString = ".raw"
    temporary.withUTF8Buffer { buffer in
      let old = unsafe UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped)
        .assumingMemoryBound(to: CChar.self)
      let descriptor = unsafe openat(
        directory, old, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
      if descriptor < 0 { failed("openat") }
      if unsafe write(descriptor, value, value.count) != value.count { failed("write") }
      more(descriptor)
      if unsafe futimens(descriptor, times) != 0 { failed("futimens") }
      if isDurable, fsync(descriptor) != 0 { failed("fsync") }
      close(descriptor)
      if unsafe renameat(directory, old, directory, name) != 0 { failed("renameat") }
      if isDurable, fsync(directory) != 0 { failed("fsync") }
    }
  }

  /// Sets `user.larder`. Ignores filesystems without attributes, as the cache does.
  @inline(__always)
  static func setEntryAttribute(_ descriptor: Int32, _ attribute: [UInt8]) {
    let code = unsafe setAttribute(
      descriptor, entryAttributeName, attribute, attribute.count, 0)
    if code != 0 && errno != EOPNOTSUPP { failed("fsetxattr") }
  }

  @inline(__always)
  private static var entryAttributeName: UnsafePointer<CChar> {
    let name: StaticString = "user.larder"
    return unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// Returns `user.larder`; nothing if the file has none.
  @inline(__always)
  private static func entryAttribute(of descriptor: Int32) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 256) { buffer, filled in
      filled = unsafe max(
        0, getAttribute(descriptor, entryAttributeName, buffer.baseAddress, buffer.count))
    }
  }

  /// Returns the attribute of a file that the cache has stored.
  static func attribute(_ directory: Int32, _ name: UnsafePointer<CChar>) -> [UInt8] {
    let descriptor = unsafe openFile(directory, name)
    defer { close(descriptor) }
    return entryAttribute(of: descriptor)
  }

  @inline(__always)
  static func remove(_ directory: Int32, _ name: UnsafePointer<CChar>) {
    if unsafe unlinkat(directory, name, 0) != 0 { failed("unlinkat") }
  }

  /// Lists a directory, gets the status of every name, and returns the bytes of all files.
  static func scan(_ directory: Int32) -> Int {
    var total = 0
    unsafe scan(directory) { _, status in total += Int(status.st_size) }
    return total
  }

  /// Lists a directory and hands the name and the status of every file to a function.
  static func scan(_ directory: Int32, _ body: (UnsafePointer<CChar>, stat) -> Void) {
    let descriptor = unsafe openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | noAtime)
    guard descriptor >= 0, let stream = unsafe fdopendir(descriptor) else { failed("fdopendir") }
    defer { unsafe closedir(stream) }
    var status = stat()
    while let entry = unsafe readdir(stream) {
      let offset = unsafe MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped
      let name = unsafe (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
      if unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
        unsafe body(name, status)
      }
    }
  }
}
