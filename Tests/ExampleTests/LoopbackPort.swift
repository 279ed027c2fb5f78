import Foundation

/// A reserved port: the kernel gives it to no other socket while this object lives, but sockets
/// that share ports can listen on it.
final class LoopbackPort: Sendable {
  let number: UInt16
  private let handle: FileHandle

  init() throws {
    let socket = socket(AF_INET, 1, 0)
    handle = FileHandle(fileDescriptor: socket, closeOnDealloc: true)
    var yes: Int32 = 1
    unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &yes, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // Bound and never listening, so that it takes no connections from the listening sockets.
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(socket, $0, 16) }
    }
    if status < 0 { throw POSIXError(.EADDRINUSE) }
    number = try Self.number(of: handle)
  }

  /// Returns the port that a socket is bound to.
  static func number(of handle: FileHandle) throws -> UInt16 {
    var address = sockaddr_in()
    var count: socklen_t = 16
    let status = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(handle.fileDescriptor, $0, &count)
      }
    }
    if status < 0 { throw POSIXError(.EBADF) }
    return UInt16(bigEndian: address.sin_port)
  }
}
