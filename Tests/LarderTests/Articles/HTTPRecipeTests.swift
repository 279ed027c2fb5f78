import Synchronization
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// A web server in this process that counts requests and answers conditional ones.
private final class CountingOrigin: Sendable {
  struct State {
    var version = 1
    var isDown = false
    var control = "max-age=60"
    var headers: [String: String] = [:]
    var status = 200
    var requests: [String: Int] = [:]
    var conditional = 0
    var notModified = 0
    var ongoing: [String: Int] = [:]
    var isDoublyAsked = false
  }

  let state = Mutex(State())

  /// Returns the body of a page. Its last byte is the version.
  private static func body(_ url: String, _ version: Int) -> [UInt8] {
    Array(repeating: UInt8(url.utf8.count), count: 5000) + [UInt8(version)]
  }

  @Sendable func answer(_ url: String, _ headers: [String: String]) async throws -> Response {
    state.withLock {
      $0.requests[url, default: 0] += 1
      if $0.ongoing[url, default: 0] > 0 { $0.isDoublyAsked = true }
      $0.ongoing[url, default: 0] += 1
    }
    defer { state.withLock { $0.ongoing[url, default: 0] -= 1 } }
    for _ in 0..<20 { await Task.yield() }
    return try state.withLock { state in
      if state.isDown { throw OriginFailure(status: 503) }
      let eTag = "\"\(url)-\(state.version)\""
      var response = Response(status: state.status, headers: state.headers)
      response.headers["cache-control"] = state.control
      response.headers["etag"] = eTag
      if headers["if-none-match"] != nil { state.conditional += 1 }
      if headers["if-none-match"] == eTag && state.status == 200 {
        state.notModified += 1
        response.status = 304
        return response
      }
      response.body = Self.body(url, state.version)
      return response
    }
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var requestCount: Int { state.withLock { $0.requests.values.reduce(0, +) } }
}

extension Response {
  fileprivate var version: Int { Int(body.last ?? 0) }
}

/// The recipe of the article on HTTP, with an origin that counts.
@Suite(.watched)
struct `The recipe for HTTP responses` {
  let scene: DiskScene
  private let origin = CountingOrigin()
  let client: HTTPCache
  let urls = (0..<10).map { "https://example.org/\(String(repeating: "x", count: $0))" }

  init() throws {
    scene = try DiskScene()
    var configuration = scene.configuration
    configuration.disk.sizeLimit = DiskCache.Configuration().sizeLimit
    client = try HTTPCache(
      directory: scene.path, configuration: configuration, send: origin.answer)
  }

  /// Lets 200 tasks ask for every page, and returns their responses.
  private func rush() async throws -> [Response] {
    let (client, urls) = (client, urls)
    return try await withThrowingTaskGroup(of: [Response].self) { group in
      for number in 0..<200 {
        group.addTask {
          var responses: [Response] = []
          for step in urls.indices {
            responses.append(try await client.get(urls[(step + number) % urls.count]))
          }
          return responses
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  @Test func `200 tasks make one request a page, and one conditional request an expiry`()
    async throws
  {
    #expect(try await rush().allSatisfy { $0.status == 200 && $0.version == 1 })
    _ = try await rush()
    #expect(origin.requestCount == 10 && origin.state.withLock { $0.conditional } == 0)
    let files = try scene.names.map { try scene.status(FileName(text: $0)).identity }
    for round in 1...3 {
      scene.clock.advance(by: .seconds(60))
      scene.faults.reset()
      #expect(try await rush().allSatisfy { $0.status == 200 && $0.version == 1 })
      #expect(origin.requestCount == 10 + 10 * round)
      #expect(origin.state.withLock { $0.notModified } == 10 * round)
      for call in [SystemCall.write, .copyFileRange, .linkat, .renameat, .unlinkat, .ftruncate] {
        #expect(scene.faults.count(of: call) == 0, "\(call)")
      }
    }
    #expect(try scene.names.map { try scene.status(FileName(text: $0)).identity } == files)
    #expect(client.responses.statistics.loads.renewed == 30)
    origin.change { $0.version = 2 }
    scene.clock.advance(by: .seconds(59))
    #expect(try await rush().allSatisfy { $0.version == 1 })
    scene.clock.advance(by: .seconds(1))
    #expect(try await rush().allSatisfy { $0.version == 2 })
    #expect(origin.requestCount == 50 && origin.state.withLock { $0.conditional } == 40)
    #expect(!origin.state.withLock { $0.isDoublyAsked })
    #expect(client.responses.disk.statistics.bytesWritten < 21 * 5200)
  }

  @Test func `nothing staler than a day is served while the server is down`() async throws {
    _ = try await rush()
    scene.clock.advance(by: .seconds(60))
    origin.change { $0.isDown = true }
    let down = origin.requestCount
    #expect(try await rush().allSatisfy { $0.version == 1 })
    // One failed request a page, and then no further request for five seconds.
    #expect(origin.requestCount == down + 10)
    scene.clock.advance(by: .seconds(5))
    origin.change { ($0.isDown, $0.version) = (false, 2) }
    #expect(try await rush().allSatisfy { $0.version == 2 })
    scene.clock.advance(by: .seconds(60 + 86_400))
    origin.change { $0.isDown = true }
    await #expect(throws: OriginFailure.self) { try await rush() }
  }

  @Test func `tasks that are cancelled leave the others a value that is not stale`() async throws {
    _ = try await rush()
    for version in 2...6 {
      origin.change { ($0.version, $0.isDown) = (version, false) }
      scene.clock.advance(by: .seconds(60))
      let (client, urls) = (client, urls)
      let tasks = (0..<200).map { number in
        Task { try await client.get(urls[number % urls.count]) }
      }
      for (number, task) in tasks.enumerated() where number % 3 != 0 { task.cancel() }
      for (number, task) in tasks.enumerated() {
        switch await task.result {
        case .success(let response): #expect(response.version == version)
        case .failure(let error): #expect(error is CancellationError && number % 3 != 0)
        }
      }
    }
  }

  @Test(
    arguments: [
      ("no-store", 200, [:]), ("private", 200, [:]), ("no-cache", 200, [:]),
      ("max-age=600", 404, ["age": "600"]), ("max-age=600", 200, ["vary": "*"]),
      ("max-age=600", 200, ["vary": "cookie"]), ("max-age=600", 206, [:]),
    ] as [(String, Int, [String: String])])
  func `what must not be kept is asked for each time`(
    control: String, status: Int, headers: [String: String]
  ) async throws {
    origin.change { ($0.control, $0.status, $0.headers) = (control, status, headers) }
    for _ in 0..<2 { #expect(try await client.get(urls[0]).status == status) }
    #expect(origin.requestCount == 2)
    #expect(try scene.names == [])
  }

  @Test(arguments: [
    ("max-age=600, public", 200, 600), ("s-maxage=30, max-age=600", 200, 30), ("", 200, 60),
    ("", 404, 10), ("max-age=5", 404, 5),
  ])
  func `what may be kept is kept for as long as the server says`(
    control: String, status: Int, seconds: Int
  ) async throws {
    origin.change { ($0.control, $0.status) = (control, status) }
    #expect(try await client.get(urls[0]).status == status)
    scene.clock.advance(by: .seconds(seconds - 1))
    #expect(try await client.get(urls[0]).status == status)
    #expect(origin.requestCount == 1)
    scene.clock.advance(by: .seconds(1))
    #expect(try await client.get(urls[0]).status == status)
    #expect(origin.requestCount == 2)
  }

  @Test func `variants of a page are kept apart`() async throws {
    origin.change { $0.headers["vary"] = "Accept-Language, Accept-Encoding" }
    for _ in 0..<2 {
      for language in ["de", "en"] {
        _ = try await client.get(urls[0], headers: ["accept-language": language])
      }
    }
    #expect(origin.requestCount == 2)
  }

  @Test func `a response is read as it was written`() throws {
    let coder = Coder<Response>.response
    for response in [
      Response(status: 200), Response(status: 404, body: [10, 10, 0, 255]),
      Response(status: 200, headers: ["a": "b: c", "e": "12"], body: Array("7\n\n".utf8)),
    ] {
      #expect(try coder.decode(coder.encode(response)) == response)
    }
    #expect(throws: NotAResponse.self) { try coder.decode([]) }
  }
}
