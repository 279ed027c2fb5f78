import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A client of a Redis server on this machine, over a plain socket.
///
/// Every failure (no server listens, an answer is late or incomplete) counts as no answer, and the
/// caller continues without one. The example opens a connection for each request to stay short; a
/// server would keep some open.
struct Redis: Sendable {
  let port: UInt16

  /// Returns the value of a key; nil if there is none or no answer.
  func value(forKey key: String) async -> [UInt8]? {
    await ask([Array("GET".utf8), Array(key.utf8)])
  }

  /// Stores a value that the server removes after some seconds. Ignores failures.
  func store(_ value: [UInt8], forKey key: String, seconds: Int) async {
    _ = await ask(
      ["SET", key].map { Array($0.utf8) } + [value, Array("EX".utf8), Array("\(seconds)".utf8)])
  }

  /// Sends a command on a thread of Dispatch, because a blocking socket must not occupy one of
  /// Swift's.
  private func ask(_ words: [[UInt8]]) async -> [UInt8]? {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: exchange(words))
      }
    }
  }

  /// Sends a command and reads a bulk reply: `$LENGTH`, a line end and the bytes. Returns nil for
  /// any other reply, such as `$-1` for no value or `+OK`. See:
  /// https://redis.io/docs/reference/protocol-spec
  private func exchange(_ words: [[UInt8]]) -> [UInt8]? {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var patience = timeval(tv_sec: 0, tv_usec: 200_000)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(socket, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { return nil }
    var command = Array("*\(words.count)\r\n".utf8)
    for word in words { command += Array("$\(word.count)\r\n".utf8) + word + Array("\r\n".utf8) }
    guard send(socket, command, command.count, Int32(MSG_NOSIGNAL)) == command.count else {
      return nil
    }
    return bulk(from: socket)
  }

  /// The longest value that a Redis server keeps. A larger number is no answer of one.
  private static let longest = 512 << 20

  private func bulk(from socket: Int32) -> [UInt8]? {
    var reply: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      if let end = reply.firstIndex(of: 10) {
        let line = String(decoding: reply[..<end].dropLast(), as: UTF8.self)
        guard line.hasPrefix("$"), let count = Int(line.dropFirst()),
          (0...Self.longest).contains(count)
        else { return nil }
        if reply.count >= end + 1 + count + 2 { return Array(reply[(end + 1)...].prefix(count)) }
      } else if reply.count > 32 {
        return nil  // no line of a length
      }
      let received = recv(socket, &piece, piece.count, 0)
      guard received > 0 else { return nil }
      reply += piece[..<received]
    }
  }
}
