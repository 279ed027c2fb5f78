import LarderHTTP

// The examples of the article on HTTP. `ArticleTests` compares them with it line by line.

private func answer(
  _ request: HTTPCache.Request,
  _ send: @escaping @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response
) async throws -> HTTPCache.Response {
  let cache = try HTTPCache(directory: "/var/cache/app/http")
  let response = try await cache.respond(to: request) { try await send($0) }
  return response
}

private func openWithSettings() async throws -> HTTPCache {
  var settings = HTTPCache.Configuration()
  settings.cacheStatusName = "app"  // each response says in Cache-Status what the cache did
  settings.retention = .seconds(7 * 86_400)
  settings.bodyLimit = 64 << 20
  settings.collapseLimit = .seconds(2)
  settings.storage.disk.sizeLimit = 4 << 30
  settings.policy.staleIfError = .seconds(3_600)
  settings.policy.storesSetCookie = false
  settings.policy.targetedFields = ["CDN-Cache-Control"]
  var patient = settings.policy
  patient.staleIfError = .seconds(7 * 86_400)
  settings.route = { [patient] request in
    if request.target.hasPrefix("/admin/") { return .bypassed }
    return request.target.hasPrefix("/pictures/") ? .cached(patient) : nil  // nil: settings.policy
  }
  let cache = try HTTPCache(directory: "/var/cache/app/http", configuration: settings)
  return cache
}

private func removeAndCount(_ cache: HTTPCache) async throws {
  try await cache.invalidate("http://example.org/a?b=c")  // removes what is stored
  try await cache.expire("http://example.org/news")  // its next use asks the origin
  let counts = cache.statistics
  print(counts.hits, counts.stale, counts.validated, counts.collapsed, counts.notKept)
  print(counts.forwarded[.uriMiss] ?? 0, "requests went out because nothing was stored")
  try await cache.close()
}
