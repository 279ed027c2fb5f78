import Foundation
import Larder
import LarderFoundation

/// A caching HTTP reverse proxy on 127.0.0.1: `CachingProxy PORT ORIGIN-PORT DIRECTORY`.
/// Start it several times with one port and one directory: the kernel deals connections out among
/// the processes, and each serves what any of them has stored.
@main
struct CachingProxy {
  let cache: Cache<Data>
  let origin: UInt16

  static func main() async throws {
    let numbers = CommandLine.arguments.dropFirst().prefix(2).compactMap { UInt16($0) }
    guard numbers.count == 2, let directory = CommandLine.arguments.dropFirst(3).first
    else { print("usage: CachingProxy PORT ORIGIN-PORT DIRECTORY"); exit(2) }
    signal(SIGPIPE, SIG_IGN)
    var configuration = CacheConfiguration()
    configuration.disk.expiration = .seconds(300)
    configuration.disk.extending = .off  // fresh for 300 s, however often it is asked for
    let proxy = CachingProxy(
      cache: try Cache(directory: directory, coder: .data, configuration: configuration),
      origin: numbers[1])
    let listener = try Sockets.listen(on: numbers[0])
    FileHandle.standardOutput.write(Data("listening\n".utf8))
    while true {
      let client = try await blocking { try Sockets.accept(listener) }
      Task { do { try await proxy.serve(client) } catch { print("not served: \(error)") } }
    }
  }

  /// Answers a GET and hangs up on anything else.
  private func serve(_ client: FileHandle) async throws {
    // A request fits into what comes first, as those of clients on one machine do.
    let head = String(decoding: try await blocking { client.availableData }, as: UTF8.self)
    guard head.hasPrefix("GET ") else { return }
    let response = try await response(to: String(head.dropFirst(4).prefix { $0 != " " }))
    try await blocking { try client.write(contentsOf: response) }
  }

  /// What the cache holds for a path or else what the origin says, and a header that tells which.
  private func response(to path: String) async throws -> Data {
    let source = try await cache.tier(forKey: path)?.rawValue ?? "origin"
    do {
      // However many clients wait for a page, this process fetches it once.
      var response = try await cache.value(forKey: path) { try await fetch(path) }
      let end = response.firstIndex(of: UInt8(ascii: "\n")) ?? response.startIndex
      response.insert(contentsOf: Data("X-Cache: \(source)\r\n".utf8), at: end + 1)
      return response
    } catch let error as NotKept { return error.response }
  }

  /// Asks the origin. What must not be kept is thrown: all who wait get it, and nobody later.
  private func fetch(_ path: String) async throws -> Data {
    let response = try await blocking { [origin] in
      let server = try Sockets.connect(to: origin)
      try server.write(contentsOf: Data("GET \(path) HTTP/1.0\r\n\r\n".utf8))
      return try server.readToEnd() ?? Data()
    }
    let head = String(decoding: response.prefix(4096), as: UTF8.self).lowercased()
    guard head.contains(" 200 "), !head.contains("no-store") else {
      throw NotKept(response: response)
    }
    return response
  }
}

private struct NotKept: Error { let response: Data }

/// Runs what may block on a thread of its own, so that Swift's threads stay free for others.
private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
