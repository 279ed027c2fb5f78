import Foundation
import Larder
import LarderFoundation

/// A caching HTTP reverse proxy on 127.0.0.1: `CachingProxy PORT ORIGIN-PORT DIRECTORY`.
///
/// Processes started with one port and one directory share the connections and the pages.
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
    configuration.disk.expiration = .seconds(300)  // where the origin says nothing
    configuration.disk.extending = .off  // a page ages, however often it is asked for
    configuration.disk.expiredGrace = .seconds(86_400)  // and then is asked about by its ETag
    let cache = try Cache(directory: directory, coder: .data, configuration: configuration)
    let proxy = CachingProxy(cache: cache, origin: numbers[1])
    let listener = try Sockets.listen(on: numbers[0])
    FileHandle.standardOutput.write(Data("listening\n".utf8))
    while true {
      let client = try await blocking { try Sockets.accept(listener) }
      Task { do { try await proxy.serve(client) } catch { print("not served: \(error)") } }
    }
  }

  /// Answers a GET with the page and its source. Closes the connection on any other request, and if
  /// the origin fails and no page is left to serve.
  private func serve(_ client: FileHandle) async throws {
    let head = String(decoding: try await blocking { client.availableData }, as: UTF8.self)
    guard head.hasPrefix("GET ") else { return }
    let path = String(head.dropFirst(4).prefix { $0 != " " })
    let source = try await cache.tier(forKey: path)?.rawValue ?? "origin"
    var response = try await cache.value(forKey: path, options: .staleIfFailing(.seconds(86_400))) {
      try await fetch(path, $0)
    }
    let end = response.firstIndex(of: UInt8(ascii: "\n")) ?? response.startIndex
    response.insert(contentsOf: Data("X-Cache: \(source)\r\n".utf8), at: end + 1)
    try await blocking { [response] in try client.write(contentsOf: response) }
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
    let lines = String(decoding: response.prefix(4096), as: UTF8.self)
      .components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n")
    func header(_ name: String) -> Substring? {
      lines.first { $0.lowercased().hasPrefix(name) }?.dropFirst(name.count)
    }
    let control = header("cache-control: ") ?? ""
    let age = control.firstMatch(of: /max-age=(\d+)/).flatMap { Int($0.1) }
    if !lines[0].hasPrefix("HTTP/") || lines[0].contains(" 5") { throw POSIXError(.EIO) }
    if lines[0].contains(" 304 ") { return .notModified(expiration: age.map { .seconds($0) }) }
    guard lines[0].contains(" 200 "), !control.contains("no-store") else {
      return .notKept(response)
    }
    let eTag = Array((header("etag: ") ?? "").utf8)
    return .value(response, expiration: age.map { .seconds($0) }, extendedData: eTag)
  }
}

/// Runs a blocking function on a new thread, so that it occupies none of Swift's threads.
private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
