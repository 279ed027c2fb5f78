import LarderTestSupport
import Synchronization
import Testing

@testable import LarderHTTP

/// An origin that answers by a script, behind a cache with a clock that the test moves.
final class Scene: Sendable {
  let folder: TemporaryDirectory
  let clock = ManualClock(Timestamp(seconds: 1_700_000_000))
  let cache: HTTPCache
  private let script: Mutex<[Reply]>
  private let seen = Mutex<[HTTPCache.Request]>([])

  init(
    _ replies: [Reply] = [], _ configure: (inout HTTPCache.Configuration) -> Void = { _ in }
  ) throws {
    folder = try TemporaryDirectory()
    var configuration = HTTPCache.Configuration()
    configuration.storage.disk.clock = clock.wallClock
    // A watch on the directory takes one of the user's 128 inotify instances, and hundreds of these
    // tests run at once. None of them is about other processes.
    configuration.storage.disk.coherence = .none
    configure(&configuration)
    cache = try HTTPCache(directory: folder.path + "/cache", configuration: configuration)
    script = Mutex(replies)
  }

  // Gives back the descriptors, watches and threads of the cache, also if the test has thrown.
  deinit {
    do { try cache.entries.close() } catch { Issue.record(error) }
  }

  /// The requests that came to the origin.
  var requests: [HTTPCache.Request] { seen.withLock { $0 } }

  func add(_ reply: Reply) { script.withLock { $0.append(reply) } }

  /// Answers a request by the next reply, with the number of the request in a field.
  @Sendable func origin(_ request: HTTPCache.Request) async throws -> HTTPCache.Response {
    let number = seen.withLock { seen in
      seen.append(request)
      return seen.count
    }
    let reply = script.withLock { $0.isEmpty ? Reply() : $0.removeFirst() }
    clock.advance(by: .seconds(reply.delay))
    if reply.fails { throw OriginIsDown() }
    var fields = reply.fields
    if !fields.contains("date"), !reply.lacksDate {
      fields.append("Date", HTTPDate.text(clock.now.seconds))
    }
    fields.append("Number", "\(number)")
    let hasBody = request.method != "HEAD" && reply.status != 304 && reply.status != 204
    let body = reply.body ?? Array("body \(number)".utf8)
    return HTTPCache.Response(
      status: reply.status, fields: fields,
      body: hasBody ? reply.isStream ? .pieces(body, reply.announced) : .init(body) : .init([]))
  }

  func respond(_ request: HTTPCache.Request) async throws -> HTTPCache.Response {
    try await cache.respond(to: request, forwarding: origin)
  }

  func get(
    _ fields: HTTPCache.Fields = [:], target: String = "/a"
  ) async throws -> HTTPCache.Response {
    try await respond(.init(authority: "example.org", target: target, fields: fields))
  }
}

struct OriginIsDown: Error {}

extension Flights {
  /// Joins for a request whose response is not known to vary.
  func join(_ request: HTTPCache.Request, in scene: Scene, after count: UInt64?) async -> Turn {
    let asker = Exchange(
      cache: scene.cache, request: request, forwarding: scene.origin, key: request.key)
    return await join(asker, true, after: count)
  }
}

/// What an origin answers.
struct Reply: Sendable {
  var status = 200
  var fields: HTTPCache.Fields = [:]
  var body: [UInt8]?
  var isStream = false
  var announced: Int?
  var fails = false
  var lacksDate = false
  /// The seconds that the origin takes.
  var delay = 0

  init(_ status: Int = 200, _ fields: HTTPCache.Fields = [:], body: String? = nil) {
    (self.status, self.fields, self.body) = (status, fields, body.map { Array($0.utf8) })
  }

  static var failure: Reply {
    var reply = Reply()
    reply.fails = true
    return reply
  }
}

extension HTTPCache.Body {
  /// A body that comes in pieces of 1,000 bytes.
  static func pieces(_ bytes: [UInt8], _ announced: Int? = nil) -> HTTPCache.Body {
    let offset = Mutex(0)
    return HTTPCache.Body(byteCount: announced) {
      offset.withLock { offset in
        let piece = bytes[offset...].prefix(1000)
        offset += piece.count
        return piece.isEmpty ? nil : Array(piece)
      }
    }
  }

  var text: String {
    get async throws { String(decoding: try await collect(upTo: 1 << 20), as: UTF8.self) }
  }
}

/// A story of requests to one URL, in the words of the standard.
struct Case: Sendable, CustomTestStringConvertible {
  /// What a request must lead to.
  enum Outcome: Sendable, Equatable {
    /// The origin was asked without a condition of the cache.
    case origin
    /// The origin was not asked.
    case cached
    /// The origin was asked by `If-None-Match` or `If-Modified-Since`.
    case validated
  }

  struct Step: Sendable {
    var wait = 0
    var request: HTTPCache.Fields = [:]
    var method = "GET"
    var reply: Reply
    var outcome: Outcome
    var status: Int?
    /// Fields that the response must have; with an empty value, must not have.
    var response: HTTPCache.Fields
    /// Fields that the origin must see in the request, or must not see.
    var asked: HTTPCache.Fields = [:]
  }

  let title: String
  let steps: [Step]
  var isShared = true
  var targeted: [String] = []
  var staleIfError = 0
  var testDescription: String { title }

  init(
    _ title: String, _ steps: Step..., isShared: Bool = true, targeted: [String] = [],
    staleIfError: Int = 0
  ) {
    (self.title, self.steps, self.isShared) = (title, steps, isShared)
    (self.targeted, self.staleIfError) = (targeted, staleIfError)
  }

  /// Plays the story and checks each step.
  func run() async throws {
    let scene = try Scene { configuration in
      configuration.policy.isShared = isShared
      configuration.policy.targetedFields = targeted
      configuration.policy.staleIfError = .seconds(staleIfError)
    }
    for (index, step) in steps.enumerated() {
      scene.clock.advance(by: .seconds(step.wait))
      scene.add(step.reply)
      let before = scene.requests.count
      let request = HTTPCache.Request(
        method: step.method, authority: "example.org", target: "/a", fields: step.request)
      let response: HTTPCache.Response
      do {
        response = try await scene.respond(request)
      } catch is OriginIsDown {
        #expect(step.status == 0, "\(title), step \(index + 1): the origin's failure came through")
        continue
      }
      for try await _ in response.body {}
      let asked = scene.requests.dropFirst(before).last
      var outcome = Outcome.cached
      if let asked {
        let isConditional =
          asked.fields.contains("if-none-match") || asked.fields.contains("if-modified-since")
        outcome = isConditional ? .validated : .origin
      } else {
        // The reply was for this step alone.
        _ = try await scene.origin(request)
      }
      #expect(outcome == step.outcome, "\(title), step \(index + 1)")
      if let status = step.status {
        #expect(response.status == status, "\(title), step \(index + 1)")
      }
      for (fields, wanted) in [(response.fields, step.response), (asked?.fields, step.asked)] {
        for field in wanted {
          let value = field.value.isEmpty ? nil : field.value
          #expect(fields?[field.name] == value, "\(title), step \(index + 1): \(field.name)")
        }
      }
    }
  }
}

/// A step whose request goes to the origin, or not.
func get(
  _ outcome: Case.Outcome, _ reply: HTTPCache.Fields = [:], status: Int = 200, after wait: Int = 0,
  with request: HTTPCache.Fields = [:], method: String = "GET", gives: Int? = nil,
  _ response: HTTPCache.Fields = [:], asking: HTTPCache.Fields = [:]
) -> Case.Step {
  Case.Step(
    wait: wait, request: request, method: method, reply: Reply(status, reply), outcome: outcome,
    status: gives, response: response, asked: asking)
}

/// A step whose request finds the origin down; a status of 0 means that the client learns it.
func down(gives status: Int, after wait: Int = 0, with request: HTTPCache.Fields = [:]) -> Case.Step
{
  Case.Step(
    wait: wait, request: request, reply: .failure, outcome: .origin, status: status, response: [:])
}

/// Returns a date some seconds after the scene begins.
func date(_ seconds: Int64) -> String { HTTPDate.text(1_700_000_000 + seconds) }

/// Waits until a condition holds, and blocks no thread of Swift's meanwhile.
func reaching(_ what: String, _ holds: () async -> Bool) async throws {
  try await eventually(what) { () async throws -> Bool in await holds() }
}

extension HTTPCache.Body {
  /// Returns the whole body.
  func collect(upTo limit: Int) async throws -> [UInt8] {
    var collected: [UInt8] = []
    for try await piece in self { collected += piece }
    try #require(collected.count <= limit)
    return collected
  }
}
