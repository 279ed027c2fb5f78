import Larder
import LarderFixtures

// The code of the README and of the guide Recipes. `ArticleTests` compares them line by line.

typealias Fetch = @Sendable (String) async throws -> String
typealias Download = @Sendable (String) async throws -> AsyncStream<[UInt8]>

func openSome() async throws -> (Cache<String>, Cache<[UInt8]>) {
  let pages = try Cache(named: "pages", coder: .string)  // under $XDG_CACHE_HOME or ~/.cache
  let images = try Cache(directory: "/var/cache/app/images", coder: .bytes)
  return (pages, images)
}

func codeNumbers() async throws -> Coder<Int> {
  struct NotANumber: Error {}
  let numbers = Coder<Int>(
    encode: { number in Array(String(number).utf8) },
    decode: { bytes in
      guard let number = Int(String(decoding: bytes, as: UTF8.self)) else { throw NotANumber() }
      return number
    }
  )
  return numbers
}

func loadWhatIsMissing(
  _ pages: Cache<String>, url: String, fetch: @escaping Fetch
) async throws -> String {
  let page = try await pages.value(forKey: url, expiration: .hours(1)) {
    try await fetch(url)
  }
  return page
}

func serveStale(
  _ pages: Cache<String>, url: String, fetch: @escaping Fetch
) async throws -> String {
  let options = LoadOptions.staleWhileRevalidating(.seconds(600))
  let page = try await pages.value(forKey: url, options: options) { try await fetch(url) }
  return page
}

func loadWhatMayBeMissing(
  _ pages: Cache<String>, url: String, lookUp: @escaping @Sendable (String) async throws -> String?
) async throws -> String? {
  struct Missing: Error {}
  var page: String?
  do {
    page = try await pages.value(forKey: url, options: .keepingFailures(for: .seconds(60))) {
      guard let page = try await lookUp(url) else { throw Missing() }
      return page
    }
  } catch is Missing {}  // page stays nil
  return page
}

func storeReadRemove(_ pages: Cache<String>, html: String, url: String) async throws {
  try await pages.store(html, forKey: url, expiration: .days(1))
  let hit = try await pages.value(forKey: url)  // String?
  let tier = try await pages.tier(forKey: url)  // .memory, .disk or nil; does not count as a use
  try await pages.remove(forKey: url)
  print(hit ?? "", tier == .memory)
}

func readMany(_ pages: Cache<String>, urls: [String]) async throws {
  let found = await pages.values(forKeys: urls)
  for (url, result) in zip(urls, found) {
    let page = try result.get()  // String?; throws what reading this key threw
    print(url, page ?? "not cached")
  }
}

func storeBeside(
  _ pages: Cache<String>, _ images: Cache<[UInt8]>, _ names: (html: String, url: String),
  _ bytes: (value: [UInt8], eTag: [UInt8]), key: String, show: (String, [UInt8]) -> Void
) async throws -> StoreOutcome? {
  let ((html, url), (bytes, eTag)) = (names, bytes)
  try await pages.store(html, forKey: url, extendedData: eTag)  // up to 1,024 bytes
  if let entry = try await pages.read(forKey: url) { show(entry.value, entry.extendedData) }
  let outcome = try await images.disk.storeIfAbsent(bytes, forKey: key)
  return outcome
}

func storeInPieces(
  _ images: Cache<[UInt8]>, key: String, body: AsyncStream<[UInt8]>,
  send: ([UInt8]) async throws -> Void
) async throws -> Int? {
  try await images.store(forKey: key) { writer in
    for try await piece in body { try await writer.write(piece) }
  }
  let byteCount = try await images.withFile(forKey: key) { file in
    for try await piece in file { try await send(piece) }
    return file.byteCount
  }
  return byteCount
}

func loadLarge(
  _ videos: Cache<[UInt8]>, url: String, download: @escaping Download,
  send: ([UInt8]) async throws -> Void
) async throws {
  try await videos.withFile(forKey: url) { file in
    for try await piece in file { try await send(piece) }
  } orStore: { writer in
    for try await piece in try await download(url) { try await writer.write(piece) }
  }
}

func makeRoom(_ images: Cache<[UInt8]>, key: String) async throws {
  try await images.trim(toCost: 500 << 20)  // bytes; also toCount: and toAge:
  try await images.removeExpired()
  try await images.removeAll { $0.byteCount > 1 << 20 }
  try await images.removeVariants(of: key)  // see Keys
  try await images.removeAll()
}

func look(_ pages: Cache<String>) async throws {
  let rate = pages.statistics.hitRate  // of calls, between 0 and 1; nil before the first
  let (count, bytes) = (try await pages.disk.count(), try await pages.disk.totalSize())
  for entry in try await pages.disk.entries(byUse: true) { print(entry.name, entry.byteCount) }
  let damaged = try await pages.disk.verify().damaged
  print(rate ?? 0, count, bytes, damaged)
}

func useOneTier(key: String) async throws {
  let disk = try DiskCache(directory: "/var/cache/app/raw")  // values are bytes
  let memory = MemoryCache<String, Int>(.init(countLimit: 1_000))
  try await disk.store([1, 2, 3], forKey: key)
  memory.store(3, forKey: key)
}

func joinKeys(url: String, user: String, language: String) async throws -> [CacheKey] {
  let thumbnail = CacheKey(url, variant: "thumb@2x")
  let page = CacheKey(joining: ["page", user, language])
  return [thumbnail, page]
}

func removeGroup(
  _ images: Cache<[UInt8]>, url: String, small: [UInt8], large: [UInt8]
) async throws {
  try await images.store(small, forKey: CacheKey(url, variant: "small"))
  try await images.store(large, forKey: CacheKey(url, variant: "large"))
  try await images.removeVariants(of: url)  // removes both, and the value of url itself
}

func findMany(_ pages: Cache<String>, keys: [String]) async throws -> [String] {
  let disk = pages.disk
  let task = Task(executorPreference: disk.taskExecutor) {
    try keys.filter { try disk.contains($0) }
  }
  let there = try await task.value
  return there
}
