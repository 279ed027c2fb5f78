import Foundation

/// TCP on the loopback interface, as file handles.
enum Sockets {
  /// Listens on a port that other processes may share. A peer may stand still for so many seconds.
  static func listen(on port: UInt16, patience: Int = 2) throws -> FileHandle {
    try socket(at: port, patience: patience) { number, address in
      var yes: Int32 = 1
      setsockopt(number, SOL_SOCKET, SO_REUSEPORT, &yes, 4)
      // A connection is accepted when it sends something, so that an idle one takes no thread.
      setsockopt(number, Int32(IPPROTO_TCP), TCP_DEFER_ACCEPT, &yes, 4)
      return min(bind(number, address, 16), Foundation.listen(number, 4096))
    }
  }

  static func connect(to port: UInt16) throws -> FileHandle {
    try socket(at: port, patience: 30) { Foundation.connect($0, $1, 16) }
  }

  static func accept(_ listener: FileHandle) throws -> FileHandle {
    while true {
      let number = Foundation.accept(listener.fileDescriptor, nil, nil)
      // Without a connection for a time, or with one that is gone again.
      if number < 0 && [EAGAIN, EINTR, ECONNABORTED].contains(errno) { continue }
      return try handle(number)
    }
  }

  /// Returns what has arrived, up to 8 KiB; nothing at the end.
  static func receive(_ client: FileHandle) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = recv(client.fileDescriptor, &bytes, bytes.count, 0)
    if count < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return Array(bytes[..<count])
  }

  static func send(_ bytes: [UInt8], _ peer: FileHandle) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(peer.fileDescriptor, $0.baseAddress, $0.count, 0)
      }
      if count < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      rest = rest.dropFirst(count)
    }
  }

  /// Sends a part of a file, which this process does not read, unless the client is gone.
  static func send(_ file: Int32, from start: Int, to end: Int, _ client: FileHandle) {
    var offset = start
    while offset < end, sendfile(client.fileDescriptor, file, &offset, end - offset) > 0 {}
  }

  private static func socket(
    at port: UInt16, patience: Int, _ call: (Int32, UnsafePointer<sockaddr>) -> Int32
  ) throws -> FileHandle {
    let home = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    var address = sockaddr_in(
      sin_family: 2, sin_port: port.bigEndian, sin_addr: home, sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
    let handle = try handle(Foundation.socket(AF_INET, 1, 0))
    // A peer that neither reads nor writes for so long is given up. Accepted ones inherit it.
    var patience = timeval(tv_sec: patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(handle.fileDescriptor, SOL_SOCKET, option, &patience, 16)
    }
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
