import Foundation

/// TCP on the loopback interface, as file handles.
enum Sockets {
  /// Listens on a port that other processes may share.
  static func listen(on port: UInt16) throws -> FileHandle {
    try socket(at: port) { number, address in
      var yes: Int32 = 1
      setsockopt(number, SOL_SOCKET, SO_REUSEPORT, &yes, 4)
      return min(bind(number, address, 16), Foundation.listen(number, 64))
    }
  }

  static func connect(to port: UInt16) throws -> FileHandle {
    try socket(at: port) { Foundation.connect($0, $1, 16) }
  }

  static func accept(_ listener: FileHandle) throws -> FileHandle {
    try handle(Foundation.accept(listener.fileDescriptor, nil, nil))
  }

  private static func socket(
    at port: UInt16, _ call: (Int32, UnsafePointer<sockaddr>) -> Int32
  ) throws -> FileHandle {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let handle = try handle(Foundation.socket(AF_INET, 1, 0))
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(handle.fileDescriptor, $0) }
    }
    if status < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return handle
  }

  private static func handle(_ number: Int32) throws -> FileHandle {
    if number < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return FileHandle(fileDescriptor: number, closeOnDealloc: true)
  }
}
