import Foundation
import Synchronization

@testable import CachingProxy

/// A web server on the loopback interface that counts its requests.
final class Origin: Sendable {
  let port: UInt16
  private let listener: FileHandle
  private let asked = Mutex<[String: Int]>([:])
  private let conditional = Mutex(0)

  init() throws {
    listener = try Sockets.listen(on: 0, patience: 3600)
    port = try LoopbackPort.number(of: listener)
    Thread.detachNewThread { [self] in while answerOne() {} }
  }

  /// Ends the thread, which waits in `accept`.
  func stop() { shutdown(listener.fileDescriptor, Int32(SHUT_RDWR)) }

  /// Returns the number of requests for a path.
  func count(of path: String) -> Int { asked.withLock { $0[path] ?? 0 } }

  /// The number of conditional requests.
  var conditionalCount: Int { conditional.withLock { $0 } }

  /// Returns the bytes of a page. They are the same for the same path, and no text.
  static func body(of path: String) -> Data {
    var state = path.utf8.reduce(5381 as UInt64) { $0 &* 33 &+ UInt64($1) }
    return Data(
      (0..<100_000).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(state >> 56)
      })
  }

  private func answerOne() -> Bool {
    guard let client = try? Sockets.accept(listener) else { return false }
    do {
      let head = String(decoding: try Sockets.receive(client), as: UTF8.self)
      let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
      asked.withLock { $0[path, default: 0] += 1 }
      let status = path.hasPrefix("/missing") ? "404 Not Found" : "200 OK"
      // A path of `/set/` and a header in percent encoding gets that header.
      let own = path.hasPrefix("/set/") ? path.dropFirst(5).removingPercentEncoding ?? "" : ""
      let isFresh = path.hasPrefix("/page") || path.hasPrefix("/rush")
      let control =
        isFresh
        ? "Cache-Control: max-age=300\r\n"
        : path.hasPrefix("/private") ? "Cache-Control: no-store\r\n" : own
      let eTag = "\"\(path)\""
      if head.contains("If-None-Match: \(eTag)\r\n") {
        conditional.withLock { $0 += 1 }
        try client.write(contentsOf: Data("HTTP/1.0 304 Not Modified\r\n\r\n".utf8))
        return true
      }
      let answer =
        "HTTP/1.0 \(status)\r\nContent-Type: image/png\r\nETag: \(eTag)\r\n\(control)\r\n"
      try client.write(contentsOf: Data(answer.utf8) + Self.body(of: path))
      return true
    } catch {
      // The proxy has given this request up.
      return true
    }
  }
}
