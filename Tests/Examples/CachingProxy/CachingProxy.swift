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
    let head = String(decoding: try Sockets.receive(client), as: UTF8.self)
    guard head.hasPrefix("GET ") else { return }
    let path = String(head.dropFirst(4).prefix { !$0.isWhitespace })
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
    guard let end = response.range(of: Data("\r\n\r\n".utf8)) else { throw POSIXError(.EIO) }
    let head = Head(response[..<end.lowerBound])
    if !head.status.hasPrefix("HTTP/") || head.status.contains(" 5") { throw POSIXError(.EIO) }
    if let length = Int(head["content-length"]), length != response.endIndex - end.upperBound,
      !head.status.contains(" 304 ")
    {
      throw POSIXError(.EIO)  // the origin was cut off
    }
    if head.status.contains(" 304 "), let previous {
      return head.mayBeKept ? .notModified(expiration: head.expiration) : .notKept(previous.value)
    }
    let isKept = head.status.wholeMatch(of: /HTTP\/1.. 200 OK/) != nil  // 17 bytes with its end
    if !isKept || !head.mayBeKept { return .notKept(response) }
    let eTag = Array(head["etag"].utf8.prefix(1024))  // a part matches no page
    return .value(response, expiration: head.expiration, extendedData: eTag)
  }
}

/// The head of the origin's response. The origin gets no header of a client, so that a page has no
/// variants and no user.
private struct Head {
  let status: String
  private let lines: [(name: String, value: String)]

  init(_ bytes: Data) {
    // ASCII alone, because a mark that combines would hide the colon or comma before it.
    let text = String(decoding: bytes.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    let texts = text.split(whereSeparator: \.isNewline)
    status = String(texts.first ?? "")
    lines = texts.dropFirst().map { text in
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
      return (parts[0].trimmingCharacters(in: .whitespaces).lowercased(), value)
    }
  }

  /// The values of a header, joined as HTTP joins them.
  subscript(name: String) -> String {
    lines.filter { $0.name == name }.map(\.value).joined(separator: ",")
  }

  private var control: [String] {
    self["cache-control"].lowercased().filter { !" \t\"".contains($0) }.components(separatedBy: ",")
  }

  /// The seconds of a directive; nil without it, and 0 for words or for more than an `Int`.
  private func seconds(_ directive: String) -> Int? {
    control.first { $0.hasPrefix(directive + "=") }
      .map { min(max(Int($0.dropFirst(directive.count + 1)) ?? 0, 0), 1 << 31) }
  }

  /// How long the page is fresh; nil if the origin does not say.
  var expiration: Expiration? {
    let age = min(max(Int(self["age"]) ?? 0, 0), 1 << 31)
    return (seconds("s-maxage") ?? seconds("max-age")).map { .seconds(max(0, $0 - age)) }
  }

  /// Whether a shared cache may keep the page. `Expires` alone counts as a no, to stay short.
  var mayBeKept: Bool {
    let isForbidden = control.contains {
      ["no-store", "no-cache", "private"].contains(String($0.prefix { $0 != "=" }))
    }
    if case .seconds(0)? = expiration { return false }
    let isPlain = self["set-cookie"].isEmpty && self["vary"] != "*"
    return !isForbidden && isPlain && (expiration != nil || self["expires"].isEmpty)
  }
}

/// Runs a blocking function on a new thread, so that it occupies none of Swift's threads.
private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
