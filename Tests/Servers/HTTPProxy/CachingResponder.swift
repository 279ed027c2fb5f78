// The adapter of the guide CachingHTTPResponses, which `http-proxy` builds.
import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import LarderHTTP

struct CachingResponder: HTTPResponder {
  let cache: HTTPCache
  let client: HTTPClient  // that follows no redirect and decompresses nothing
  let origins: [String: String]  // by the authorities that clients may name
  let standard: String  // the authority for all others
  static let dropped = ["forwarded", "x-forwarded-", "x-original-url", "x-rewrite-url"]

  func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
    let authority = request.head.authority.flatMap { origins[$0] == nil ? nil : $0 } ?? standard
    let method = request.method.rawValue == "MSEARCH" ? "M-SEARCH" : request.method.rawValue
    let fields = request.headers.map { ($0.name.canonicalName, $0.value) }
      .filter { name, _ in !Self.dropped.contains(where: name.hasPrefix) }
    let asked = HTTPCache.Request(
      method: method, authority: authority, target: request.head.path ?? "", fields: .init(fields),
      hasBody: request.headers[.contentLength] ?? request.headers[.transferEncoding] ?? "0" != "0")
    guard asked.target.hasPrefix("/") else { return Response(status: .badRequest) }
    do {
      let answer = try await cache.respond(to: asked) { try await send($0, request.body) }
      let fields = answer.convertedFields {
        $0.reduce(into: HTTPFields()) {
          if let name = HTTPField.Name($1.name) { $0.append(.init(name: name, value: $1.value)) }
        }
      }
      let body =
        answer.body.bytes.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) }
        ?? ResponseBody(contentLength: method == "HEAD" ? 0 : answer.body.byteCount) { out in
          for try await piece in answer.body { try await out.write(ByteBuffer(bytes: piece)) }
          try await out.finish(nil)
        }
      return Response(status: .init(code: answer.status), headers: fields, body: body)
    } catch {
      context.logger.error("\(error)")
      return Response(status: .gatewayTimeout)
    }
  }

  func send(_ asked: HTTPCache.Request, _ body: RequestBody) async throws -> HTTPCache.Response {
    var request = HTTPClientRequest(url: (origins[asked.authority] ?? "") + asked.target)
    request.method = .init(rawValue: asked.method)
    let own = [("Host", asked.authority), ("Via", "1.1 larder")]
    request.headers = .init(own + asked.fields.map { ($0.name, $0.value) })
    let length = asked.fields["content-length"].flatMap { Int64($0) }
    if asked.hasBody { request.body = .stream(body, length: length.map { .known($0) } ?? .unknown) }
    let response = try await client.execute(request, timeout: .seconds(60))
    return HTTPCache.Response(
      status: Int(response.status.code), fields: .init(response.headers.map { ($0, $1) }),
      body: .init(byteCount: nil, response.body.map { Array(buffer: $0) }))
  }
}
