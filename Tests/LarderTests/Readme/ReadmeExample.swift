import Larder

@testable import LarderBasics
@testable import LarderDisk

/// Runs the README's example. `ReadmeTests` compares it with the README line by line.
func readmeExample(
  in directory: String, bytes: [UInt8], url: String, other: String
) async throws -> (hit: [UInt8]?, page: [UInt8], tier: CacheTier?) {
  // README begins
  let cache = try Cache(directory: directory, coder: .bytes)
  try await cache.store(bytes, forKey: url, expiration: .days(1))
  let hit = try await cache.value(forKey: url)  // [UInt8]?
  let page = try await cache.value(forKey: other) { Array("loaded".utf8) }  // or await a download
  let tier = try await cache.tier(forKey: url)  // .memory, .disk or nil
  print(hit?.count ?? 0, page.count, tier == .memory)
  try await cache.remove(forKey: url)
  try await cache.close()
  // README ends
  return (hit, page, tier)
}
