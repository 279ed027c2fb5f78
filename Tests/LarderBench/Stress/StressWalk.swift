import Glibc
import Larder

/// The files in a cache's directory, listed without the cache.
struct StressWalk {
  struct File {
    let name: String
    let byteCount: Int
    let expiry: Timestamp
    fileprivate let inode: UInt
  }

  private(set) var files: [File] = []
  private(set) var temporaryCount = 0
  /// Whether the directory does not exist.
  private(set) var isMissing = false
  let directory: String

  var byteCount: Int { files.reduce(0) { $0 + $1.byteCount } }

  init(_ directory: String) {
    self.directory = directory
    guard let stream = unsafe opendir(directory) else {
      isMissing = true
      return
    }
    defer { unsafe closedir(stream) }
    let raw = unsafe dirfd(stream)
    var places: [String: Int] = [:]
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name.hasPrefix(".larder-") { temporaryCount += 1 }
      guard Self.isEntry(name), let file = Self.file(name, in: raw) else { continue }
      // A name may be listed again if its file is replaced during the listing. Its status is read
      // after its name, so both times it can be that of the same new file.
      if let place = places[name] {
        files[place] = file
      } else {
        places[name] = files.count
        files.append(file)
      }
    }
  }

  private static func file(_ name: String, in directory: Int32) -> File? {
    var status = stat()
    guard unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    let time = status.st_mtim
    return File(
      name: name, byteCount: Int(status.st_size),
      expiry: Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)),
      inode: UInt(status.st_ino))
  }

  /// Returns the bytes of the listed files that still exist. All of them existed at the end of the
  /// listing. The whole listing may contain files that never existed at the same time, because
  /// other processes store and remove meanwhile.
  func standingByteCount() -> Int {
    let raw = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard raw >= 0 else { return 0 }
    defer { close(raw) }
    return files.reduce(0) { total, file in
      let isThere = Self.file(file.name, in: raw)?.inode == file.inode
      return isThere ? total + file.byteCount : total
    }
  }

  private static func isEntry(_ name: String) -> Bool {
    name.utf8.count == 32 && name.utf8.allSatisfy { $0 > 47 && $0 < 58 || $0 > 96 && $0 < 103 }
  }

  /// Returns a file's bytes; nil if it is gone.
  func content(of file: File) -> [UInt8]? {
    let raw = unsafe open("\(directory)/\(file.name)", O_RDONLY | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    defer { close(raw) }
    var bytes = [UInt8](repeating: 0, count: file.byteCount + 1)
    var count = 0
    while count < bytes.count {
      let room = bytes.count - count
      let moved = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe read(raw, buffer.baseAddress?.advanced(by: count), room)
      }
      // On a network file system, an open file that another machine has removed cannot be read.
      if moved < 0 { return nil }
      if moved == 0 { break }
      count += moved
    }
    return Array(bytes[..<count])
  }
}
