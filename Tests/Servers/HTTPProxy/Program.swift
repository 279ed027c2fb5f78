import AsyncHTTPClient
import Foundation
import Hummingbird
import LarderHTTP
import Logging

@main
struct Program {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let port = Int(arguments[1]) else { exit(2) }
    let origin = arguments[2].hasSuffix("/") ? String(arguments[2].dropLast()) : arguments[2]
    let authority = String(origin.split(separator: "/").last ?? "")
    var configuration = HTTPCache.Configuration()
    configuration.policy.targetedFields = ["CDN-Cache-Control"]
    configuration.policy.staleIfError = .seconds(60)
    var client = HTTPClient.Configuration(
      redirectConfiguration: .disallow, decompression: .disabled)
    client.httpVersion = .http1Only
    client.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
    var logger = Logger(label: "http-proxy")
    // Each failure of the origin is an error, and http-soak makes thousands.
    logger.logLevel = .critical
    let sender = HTTPClient(eventLoopGroupProvider: .singleton, configuration: client)
    let cache = try HTTPCache(directory: arguments[3], configuration: configuration)
    if origin.hasPrefix("constant") {
      try await serve(Constant(hasHead: origin == "constant-head"), port, logger)
    } else {
      let responder = CachingResponder(
        cache: cache, client: sender, origins: [authority: origin], standard: authority)
      try await serve(responder, port, logger)
    }
    // Without this the client ends the process by a fatal error.
    try await sender.shutdown()
    try await cache.close()
  }

  static func serve(
    _ responder: some HTTPResponder<BasicRequestContext>, _ port: Int, _ logger: Logger
  ) async throws {
    let application = Application(
      responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { _ in
        print("listening")
        fflush(nil)
      }, logger: logger)
    try await application.runService()
  }
}

/// A server without a cache, to compare with.
struct Constant: HTTPResponder {
  let bodies = [1_024, 65_536].map { ByteBuffer(repeating: 97, count: $0) }
  let fields: HTTPFields

  /// - Parameter hasHead: Whether the response has the fields that a cache passes on.
  init(hasHead: Bool) {
    let head: HTTPFields = [
      .contentType: "application/octet-stream", .server: "BaseHTTP/0.6 Python/3.11.2",
      .cacheControl: "max-age=3600", .eTag: "\"1\"", .age: "10",
    ]
    fields = hasHead ? head : [.contentType: "application/octet-stream"]
  }

  func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
    let body = bodies.first { "/\($0.readableBytes)" == request.uri.path }
    guard let body else { return Response(status: .notFound) }
    return Response(status: .ok, headers: fields, body: .init(byteBuffer: body))
  }
}
