import Larder

// The examples of the article on migrating. `ArticleTests` compares them with it line by line.

func migrateFromKingfisher(
  _ images: Cache<[UInt8]>, url: String,
  download: @escaping @Sendable (String) async throws -> [UInt8]
) async throws -> ([UInt8], [UInt8]?) {
  let image = try await images.value(forKey: CacheKey(url, variant: "round")) {
    try await download(url)
  }
  let known = try await images.value(forKey: CacheKey(url, variant: "round"))  // no download
  return (image, known)
}

func refreshFromKingfisher(
  _ images: Cache<[UInt8]>, url: String,
  download: @escaping @Sendable (String) async throws -> [UInt8]
) async throws -> [UInt8] {
  let quick = try await images.value(forKey: url, options: .memoryOnly)
  if let quick { return quick }
  return try await images.value(forKey: url, options: .reload) { try await download(url) }
}

func migrateFromYYCache(
  _ feeds: Cache<String>, feed: String, eTag: [UInt8], show: (String, [UInt8]) -> Void
) async throws {
  try await feeds.store(feed, forKey: "feed", extendedData: eTag)
  if let entry = try await feeds.read(forKey: "feed") { show(entry.value, entry.extendedData) }
  try await feeds.trim(toAge: .seconds(86_400))
}

func migrateFromNuke(
  _ thumbnails: Cache<String>, url: String, fetch: @escaping Fetch
) async throws -> String {
  let data = try await thumbnails.value(forKey: url, expiration: .days(30)) {
    try await fetch(url)
  }
  try await thumbnails.flush()
  return data
}

func migrateFromHyperoslo(
  _ storage: Cache<String>, user: String, show: (String, String) -> Void
) async throws {
  if let entry = try await storage.read(forKey: "user", allowingExpired: true) {
    show(entry.value, entry.hasExpired ? "expired" : "valid")
  }
  try await storage.store(user, forKey: "user", expiration: .seconds(600))
}

func migrateFromDiskcache(
  _ reports: Cache<[UInt8]>, name: String, pieces: AsyncStream<[UInt8]>,
  send: ([UInt8]) async throws -> Void
) async throws -> Int? {
  try await reports.store(forKey: name, expiration: .seconds(60)) { writer in
    for try await piece in pieces { try await writer.write(piece) }
  }
  let byteCount = try await reports.withFile(forKey: name) { file in
    for try await piece in file { try await send(piece) }
    return file.byteCount
  }
  return byteCount
}

func migrateFromCaffeine(
  _ graphs: Cache<String>, key: String,
  rebuild: @escaping @Sendable (String, _ previous: String?) async throws -> String
) async throws -> String {
  let graph = try await graphs.value(forKey: key, options: .staleWhileRevalidating(.seconds(60))) {
    previous in
    .value(try await rebuild(key, previous?.value), expiration: .seconds(300))
  }
  return graph
}

func migrateFromFiles(
  _ pages: Cache<[UInt8]>, old: [(key: String, path: String)]
) async throws {
  for (key, path) in old {
    try await pages.disk.store(contentsOfFile: path, forKey: key, expiration: .days(7))
  }
}
