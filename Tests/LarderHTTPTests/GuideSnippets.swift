import LarderHTTP

// The example of the article on HTTP. `ArticleTests` compares them with it line by line.

private func answer(
  _ request: HTTPCache.Request,
  _ send: @escaping @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response
) async throws -> HTTPCache.Response {
  let cache = try HTTPCache(directory: "/var/cache/app/http")
  let response = try await cache.respond(to: request) { try await send($0) }
  return response
}
