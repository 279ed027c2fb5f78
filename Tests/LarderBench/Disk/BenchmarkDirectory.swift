import Glibc
import Larder

/// A directory that a benchmark creates, and removes with its files.
struct BenchmarkDirectory {
  let path: String

  /// Creates an empty directory in the caller's directory, else in the temporary directory.
  init(_ options: DiskOptions, _ name: String) {
    let parent =
      options.directory
      ?? (unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp")
    path = "\(parent)/larder-\(name)-\(getpid())"
    removeAll()
    if unsafe mkdir(path, 0o700) != 0 { RawCalls.failed("mkdir \(path)") }
  }

  /// Removes all files and the directory.
  func removeAll() {
    guard let stream = unsafe opendir(path) else { return }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let offset = unsafe MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped
      names.append(
        unsafe String(
          cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)))
    }
    unsafe closedir(stream)
    for name in names where name != "." && name != ".." { _ = unsafe unlink("\(path)/\(name)") }
    _ = unsafe rmdir(path)
  }

  /// Stores an entry for each key, and then sets its access time in seconds if there is one.
  func store(_ keys: [String], byteCount: Int, accesses: [Int]) throws {
    let value = [UInt8](repeating: 7, count: byteCount)
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.coherence = .none
    let cache = try DiskCache(directory: path, configuration: configuration)
    for key in keys { try cache.store(value, forKey: key) }
    try cache.close()
    guard !accesses.isEmpty else { return }
    let directory = RawCalls.openDirectory(path)
    defer { close(directory) }
    let names = RawNames(ofKeys: keys)
    for (index, access) in accesses.enumerated() {
      let times = [
        timespec(tv_sec: access, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: Self.omitted),
      ]
      if unsafe utimensat(directory, names[index], times, 0) != 0 { RawCalls.failed("utimensat") }
    }
  }

  // UTIME_OMIT of bits/stat.h, which Glibc's module lacks.
  private static let omitted = (1 << 30) - 2

  /// Creates files that are entries by their names and stamps, with the given access times in
  /// seconds.
  ///
  /// Without a name in between, and without attributes if none are given, because creating a
  /// million files is not measured and should be fast.
  ///
  /// - Parameter expiry: In seconds. The default is read as never. Every file system can hold it,
  ///   whereas SFTP would wrap 2³³ s around to 1970.
  func fill(
    _ names: RawNames, byteCount: Int, accesses: [Int], expiry: Int = 1 << 31 - 1,
    attribute: ((Int) -> [UInt8])? = nil
  ) {
    let directory = RawCalls.openDirectory(path)
    defer { close(directory) }
    let value = [UInt8](repeating: 7, count: byteCount)
    let flags = O_WRONLY | O_CREAT | O_EXCL
    for index in 0..<names.count {
      let descriptor = unsafe openat(directory, names[index], flags, mode_t(0o600))
      if descriptor < 0 { RawCalls.failed("openat") }
      if byteCount > 0 { _ = unsafe write(descriptor, value, byteCount) }
      if let attribute { RawCalls.setEntryAttribute(descriptor, attribute(index)) }
      let times = [accesses[index], expiry].map { timespec(tv_sec: $0, tv_nsec: 0) }
      if unsafe futimens(descriptor, times) != 0 { RawCalls.failed("futimens") }
      close(descriptor)
    }
  }
}
