import Larder

@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

// The examples of the article on HTTP. `ArticleTests` compares them with it line by line, and
// `HTTPRecipeTests` runs them.

struct Response: Sendable, Equatable {
  var status: Int
  /// By names in lower case.
  var headers: [String: String] = [:]
  var body: [UInt8] = []
}

extension Coder<Response> {
  /// A status, a line for each header, an empty line, the body.
  static let response = Coder(
    encode: { response in
      let lines = response.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }
      return Array("\(response.status)\n\(lines.joined())\n".utf8) + response.body
    },
    decode: { bytes in
      var response = Response(status: 0)
      var rest = bytes[...]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[(end + 1)...]
        if line.isEmpty { break }
        let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
        if parts.count == 2 { response.headers[parts[0]] = parts[1] }
        if let status = Int(line) { response.status = status }
      }
      guard response.status > 0 else { throw NotAResponse() }
      response.body = Array(rest)
      return response
    })
}

struct NotAResponse: Error {}

extension Response {
  /// The directives of `Cache-Control`, such as `max-age` with `600` and `no-store` with nothing.
  var cacheControl: [String: String] {
    var directives: [String: String] = [:]
    for part in Self.list(headers["cache-control"]) {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      if let name = pair.first { directives[name] = pair.count == 2 ? pair[1] : "" }
    }
    return directives
  }

  /// How long the response is fresh; nil for one that must not be kept.
  var expiration: Expiration? {
    let control = cacheControl
    guard !control.keys.contains(where: ["no-store", "no-cache", "private"].contains) else {
      return nil
    }
    if let age = control["s-maxage"] ?? control["max-age"], let seconds = Int(age) {
      let rest = seconds - (Int(headers["age"] ?? "") ?? 0)
      return rest > 0 ? .seconds(rest) : nil
    }
    // A server that says nothing is asked again soon: about a page by its ETag, and whether
    // something is there at all after ten seconds.
    return status == 200 ? .seconds(60) : .seconds(10)
  }

  /// The parts of a header that lists them with commas.
  static func list(_ header: String?) -> [String] {
    (header ?? "").lowercased().filter { $0 != " " }.split(separator: ",").map(String.init)
  }

  /// What the next request asks by, kept beside the value as extended data.
  var validators: [UInt8] {
    Array("\(headers["etag"] ?? "")\n\(headers["last-modified"] ?? "")".utf8)
  }
}

struct OriginFailure: Error {
  let status: Int
}

/// A client for HTTP that keeps what it gets.
struct HTTPCache: Sendable {
  let responses: Cache<Response>
  /// Asks the server for a URL, with the headers of the request.
  let send: @Sendable (_ url: String, _ headers: [String: String]) async throws -> Response
  /// The headers of a request that choose between variants of a page.
  let varying = ["accept-language", "accept-encoding"]

  init(
    directory: String, configuration: CacheConfiguration = CacheConfiguration(),
    send: @escaping @Sendable (String, [String: String]) async throws -> Response
  ) throws {
    var configuration = configuration
    // What was fetched at noon with `max-age=3600` expires at one, however often it is read.
    configuration.disk.extending = .off
    // Sweeps spare what has expired for a day, so that it can be asked about by its ETag.
    configuration.disk.expiredGrace = .seconds(86_400)
    responses = try Cache(
      directory: directory, coder: .response, configuration: configuration)
    self.send = send
  }

  func get(_ url: String, headers: [String: String] = [:]) async throws -> Response {
    let variant = varying.map { headers[$0] ?? "" }
    let options: LoadOptions = [
      .staleIfFailing(.seconds(86_400)), .keepingFailures(for: .seconds(5)),
    ]
    return try await responses.value(
      forKey: CacheKey(joining: [url] + variant), options: options
    ) { previous in
      let response = try await send(url, Self.request(headers, about: previous))
      return try Self.result(of: response, varying: varying, previous)
    }
  }

  /// The headers of a request that asks whether the previous response is still good.
  private static func request(
    _ headers: [String: String], about previous: CachedValue<Response>?
  ) -> [String: String] {
    var headers = headers
    guard let previous else { return headers }
    let validators = String(decoding: previous.extendedData, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard validators.count == 2 else { return headers }
    if !validators[0].isEmpty { headers["if-none-match"] = validators[0] }
    if !validators[1].isEmpty { headers["if-modified-since"] = validators[1] }
    return headers
  }

  /// What becomes of a response.
  private static func result(
    of response: Response, varying: [String], _ previous: CachedValue<Response>?
  ) throws -> Loaded<Response> {
    // Thrown and not returned: an older response is served instead, if there is one.
    if response.status >= 500 { throw OriginFailure(status: response.status) }
    if response.status == 304, let previous {
      // Headers that a 304 leaves out hold as before.
      var current = previous.value
      current.headers.merge(response.headers) { $1 }
      return .notModified(expiration: current.expiration ?? .expired)
    }
    let names = Response.list(response.headers["vary"])
    guard [200, 301, 404, 410].contains(response.status), let expiration = response.expiration,
      names.allSatisfy(varying.contains)
    else { return .notKept(response) }
    return .value(response, expiration: expiration, extendedData: response.validators)
  }
}

func lendLargeBody(
  _ bodies: Cache<[UInt8]>, url: String,
  open: @escaping @Sendable (String) async throws -> (Response, AsyncStream<[UInt8]>),
  send: ([UInt8]) async throws -> Void
) async throws -> Int {
  let byteCount = try await bodies.withFile(forKey: url) { file in
    for try await piece in file { try await send(piece) }
    return file.byteCount
  } orStore: { writer in
    let (response, body) = try await open(url)
    guard let expiration = response.expiration else { throw NotAResponse() }
    writer.setExpiration(expiration)
    writer.setExtendedData(response.validators)
    for try await piece in body { try await writer.write(piece) }
  }
  return byteCount
}
