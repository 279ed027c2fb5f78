import Glibc

@testable import Larder
@testable import LarderMemory
@testable import LarderSystem

/// The file of a Unix socket, which no common command creates.
enum UnixSocket {
  /// Makes the file at an absolute path, which may be longer than the 107 bytes that an address
  /// holds.
  static func make(at path: String) throws(Errno) {
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let directory = unsafe open(String(path[..<name]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw .current }
    defer { close(directory) }
    try make(atShort: "/proc/self/fd/\(directory)\(path[name...])")
  }

  private static func make(atShort path: String) throws(Errno) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw .current }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in
      precondition(path.utf8.count < buffer.count, "the path is too long for a socket")
      unsafe buffer.copyBytes(from: path.utf8)
    }
    let count = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, count)
      }
    }
    guard result == 0 else { throw .current }
  }
}
