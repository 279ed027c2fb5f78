import Foundation
import Larder
import LarderFoundation

/// A caching HTTP reverse proxy on 127.0.0.1: `CachingProxy PORT ORIGIN-PORT DIRECTORY`.
///
/// Start it several times with one port and one directory. The kernel distributes connections among
/// the processes, and each serves pages that any of them has stored.
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
    configuration.disk.expiredGrace = .seconds(86_400)  // and then asked about by its ETag
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

  /// Answers a GET, and closes the connection on any other request.
  private func serve(_ client: FileHandle) async throws {
    // A request from a client on the same machine arrives in one piece.
    let head = String(decoding: try await blocking { client.availableData }, as: UTF8.self)
    guard head.hasPrefix("GET ") else { return }
    let response = try await response(to: String(head.dropFirst(4).prefix { $0 != " " }))
    try await blocking { try client.write(contentsOf: response) }
  }

  /// Returns the page of a path, from the cache or else from the origin, with a header that names
  /// the source.
  private func response(to path: String) async throws -> Data {
    let source = try await cache.tier(forKey: path)?.rawValue ?? "origin"
    // This process asks for a page once, even if many clients wait for it.
    var response = try await cache.value(forKey: path) { try await fetch(path, $0) }
    let end = response.firstIndex(of: UInt8(ascii: "\n")) ?? response.startIndex
    response.insert(contentsOf: Data("X-Cache: \(source)\r\n".utf8), at: end + 1)
    return response
  }

  /// Asks the origin for a page, or whether the previous one is still valid.
  private func fetch(_ path: String, _ previous: CachedValue<Data>?) async throws -> Loaded<Data> {
    let known = String(decoding: previous?.extendedData ?? [], as: UTF8.self)
    let condition = known.isEmpty ? "" : "If-None-Match: \(known)\r\n"
    let response = try await blocking { [origin] in
      let server = try Sockets.connect(to: origin)
      try server.write(contentsOf: Data("GET \(path) HTTP/1.0\r\n\(condition)\r\n".utf8))
      return try server.readToEnd() ?? Data()
    }
    let head = String(decoding: response.prefix(4096), as: UTF8.self).components(
      separatedBy: "\r\n\r\n")[0]
    let lines = head.components(separatedBy: "\r\n")
    if previous != nil, lines[0].contains(" 304 ") { return .notModified() }
    guard lines[0].contains(" 200 "), !head.lowercased().contains("no-store") else {
      return .notKept(response)
    }
    let eTag = lines.first { $0.lowercased().hasPrefix("etag: ") }?.dropFirst(6) ?? ""
    return .value(response, extendedData: Array(eTag.utf8))
  }
}

/// Runs a blocking function on a new thread, so that it occupies none of Swift's threads.
private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
