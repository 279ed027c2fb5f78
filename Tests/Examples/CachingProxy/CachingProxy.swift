import Foundation
import LarderHTTP
import Synchronization

/// A caching HTTP reverse proxy on 127.0.0.1: `CachingProxy PORT ORIGIN-PORT DIRECTORY`. Processes
/// started with one port and one directory share the connections and the pages.
@main
struct CachingProxy {
  let cache: HTTPCache
  let origin: UInt16

  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().prefix(2).compactMap { UInt16($0) }
    guard numbers.count == 2, let directory = CommandLine.arguments.dropFirst(3).first
    else { print("usage: CachingProxy PORT ORIGIN-PORT DIRECTORY"); exit(2) }
    signal(SIGPIPE, SIG_IGN)
    var configuration = HTTPCache.Configuration()
    configuration.policy.staleIfError = .seconds(86_400)
    configuration.cacheStatusName = "CachingProxy"
    let cache = try HTTPCache(directory: directory, configuration: configuration)
    let proxy = CachingProxy(cache: cache, origin: numbers[1])
    let listener = try Sockets.listen(on: numbers[0])
    FileHandle.standardOutput.write(Data("listening\n".utf8))
    for _ in 1...64 {  // which stay, because making a thread takes longer than a request
      Thread.detachNewThread {
        let executor = ThreadExecutor()
        while true {
          do {
            let client = try Sockets.accept(listener)
            executor.run { do { try await proxy.serve(client) } catch { print(error) } }
          } catch { print(error) }
        }
      }
    }
    while true { pause() }
  }

  private func serve(_ client: FileHandle) async throws {
    guard let head = Head(try Sockets.receive(client)) else { return }
    let words = head.line.split(separator: " ")
    let names = Set(head.fields.map { $0.0.lowercased() })
    // Closes the connection else: another form of target can name another host, a body be lost.
    guard words.count == 3, words[1].hasPrefix("/"), ["GET", "HEAD"].contains(words[0]),
      names.isDisjoint(with: ["content-length", "transfer-encoding"])
    else { return }
    // What names another client or URL, would get into pages that all clients get.
    let dropped = ["forwarded", "x-forwarded-", "x-original-url", "x-rewrite-url"]
    let named = head.fields.filter { f in !dropped.contains { f.0.lowercased().hasPrefix($0) } }
    let request = HTTPCache.Request(
      method: String(words[0]), authority: "127.0.0.1:\(origin)", target: String(words[1]),
      fields: HTTPCache.Fields(named))
    let response = (try? await cache.respond(to: request, forwarding: fetch)) ?? .init(status: 504)
    try await send(response, to: client, withBody: request.method != "HEAD")
  }

  private func send(
    _ response: HTTPCache.Response, to client: FileHandle, withBody hasBody: Bool
  ) async throws {
    let size = hasBody ? response.body.byteCount ?? 0 : 0  // 204 and 304 have none
    let (lines, hasLength) = response.convertedFields {
      ($0.map { "\($0.name): \($0.value)\r\n" }.joined(), $0["content-length"] != nil)
    }
    let length = size > 0 && !hasLength ? "Content-Length: \(size)\r\n" : ""
    let head = "HTTP/1.1 \(response.status) \r\nConnection: close\r\n\(lines)\(length)\r\n"
    if let bytes = response.body.bytes { return try Sockets.send(head.utf8 + bytes, client) }
    try Sockets.send(Array(head.utf8), client)
    if let (file, range) = response.body.file {
      return Sockets.send(file, from: range.lowerBound, to: range.upperBound, client)
    }
    for try await piece in response.body { try Sockets.send(piece, client) }
  }

  /// Sends a request to the origin, which closes the connection after its response.
  @Sendable private func fetch(_ request: HTTPCache.Request) async throws -> HTTPCache.Response {
    var text = "\(request.method) \(request.target) HTTP/1.0\r\n"
    for field in request.fields { text += "\(field.name): \(field.value)\r\n" }
    let asked = Array("\(text)Host: \(request.authority)\r\nVia: 1.1 CachingProxy\r\n\r\n".utf8)
    let bytes = try await blocking { [origin] in
      let server = try Sockets.connect(to: origin)
      try Sockets.send(asked, server)
      return [UInt8](try server.readToEnd() ?? Data())
    }
    guard let head = Head(bytes), let status = Int(head.line.dropFirst(9).prefix(3))
    else { throw POSIXError(.EIO) }
    return .init(status: status, fields: .init(head.fields), body: .init(Array(bytes[head.end...])))
  }
}

private struct Head {
  let line: String
  let fields: [(String, String)]
  let end: Int  // behind the empty line

  /// Reads a head; nil if it is not whole. As bytes, because texts take six times as long.
  init?(_ bytes: [UInt8]) {
    var (lines, rest) = ([ArraySlice<UInt8>](), bytes[...])
    repeat {
      guard let newline = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      lines.append(rest[..<newline].last == 13 ? rest[..<(newline - 1)] : rest[..<newline])
      rest = rest[(newline + 1)...]
    } while lines.last != []
    end = rest.startIndex
    line = String(decoding: lines[0], as: UTF8.self)
    fields = lines.dropFirst().dropLast().map { line in
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = String(decoding: line.dropFirst(name.count + 1), as: UTF8.self)
      return (String(decoding: name, as: UTF8.self), value.trimmingCharacters(in: .whitespaces))
    }
  }
}

/// Runs one task after the other on the thread that waits for it, so that none holds up another.
private final class ThreadExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let arrivals = DispatchSemaphore(value: 0)
  private let isDone = Atomic(false)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    arrivals.signal()
  }

  func run(_ body: @escaping @Sendable () async -> Void) {
    isDone.store(false, ordering: .relaxed)
    Task(executorPreference: self) { [self] in
      await body()
      isDone.store(true, ordering: .relaxed)
    }
    while !isDone.load(ordering: .relaxed) {
      arrivals.wait()
      let job = jobs.withLock { $0.removeFirst() }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// Runs a blocking function on a new thread, so that it occupies none of Swift's threads.
private func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
