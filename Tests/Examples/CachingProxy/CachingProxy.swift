import Foundation
import Larder
import LarderFoundation

/// A caching HTTP reverse proxy on 127.0.0.1: `CachingProxy PORT ORIGIN-PORT DIRECTORY`. Processes
/// started with one port and one directory share the connections and the pages.
@main
struct CachingProxy {
  let cache: Cache<Data>
  let origin: UInt16

  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().prefix(2).compactMap { UInt16($0) }
    guard numbers.count == 2, let directory = CommandLine.arguments.dropFirst(3).first
    else { print("usage: CachingProxy PORT ORIGIN-PORT DIRECTORY"); exit(2) }
    signal(SIGPIPE, SIG_IGN)
    var configuration = CacheConfiguration()
    configuration.disk.expiration = .seconds(300)  // where the origin says nothing
    configuration.disk.extending = .off  // a page ages, however often it is asked for
    configuration.disk.expiredGrace = .seconds(86_400)  // and then is asked about by its ETag
    configuration.memoryEntryCostLimit = .bytes(16 << 10)  // longer pages leave from files
    let cache = try Cache(directory: directory, coder: .data, configuration: configuration)
    let proxy = CachingProxy(cache: cache, origin: numbers[1])
    let listener = try Sockets.listen(on: numbers[0])
    FileHandle.standardOutput.write(Data("listening\n".utf8))
    for _ in 1...64 {  // which stay, because making a thread takes longer than a request
      Thread.detachNewThread {
        while true { do { try proxy.serve(Sockets.accept(listener)) } catch { print(error) } }
      }
    }
    while true { pause() }
  }

  /// Answers a GET with the page and its source; without one, closes the connection.
  private func serve(_ client: FileHandle) throws {
    let head = String(decoding: client.availableData, as: UTF8.self)
    guard head.hasPrefix("GET ") else { return }
    let path = String(head.dropFirst(4).prefix { $0 != " " })
    if let page = cache.memory.value(forKey: CacheKey(path)) {
      let mark = Data("X-Cache: memory\r\n".utf8)
      return try client.write(contentsOf: page.prefix(17) + mark + page.dropFirst(17))
    }
    let count = try cache.withFile(forKey: path) { file in
      try client.write(contentsOf: Data("HTTP/1.1 200 OK\r\nX-Cache: disk\r\n".utf8))
      Sockets.send(file.descriptor, from: 17, to: file.byteCount, client)
      return file.byteCount
    }
    if let count, count <= 16 << 10 { _ = try cache.value(forKey: path) }  // now in memory
    if count != nil { return }
    Task.detached {
      do {
        let page = try await cache.value(
          forKey: path, options: .staleIfFailing(.seconds(86_400))
        ) { try await fetch(path, $0) }
        let end = (page.firstIndex(of: UInt8(ascii: "\n")) ?? page.startIndex) + 1
        let answer = page[..<end] + Data("X-Cache: origin\r\n".utf8) + page[end...]
        try await blocking { try client.write(contentsOf: answer) }
      } catch { print(error) }
    }
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
    let isKept = lines[0].wholeMatch(of: /HTTP\/1.. 200 OK/) != nil  // 17 bytes with its end
    if !isKept || control.contains("no-store") { return .notKept(response) }
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
