@testable import Larder
@testable import LarderDisk
@testable import LarderMemory

/// The public functions that use a cache on disk.
enum DiskUses {
  private static let uses: [@Sendable (DiskCache) throws -> Void] = [
    { try $0.store([1], forKey: "k") }, { try $0.storeIfAbsent([1], forKey: "k") },
    { try $0.store(forKey: "k") { _ in } }, { _ = try $0.value(forKey: "k") },
    { _ = try $0.read(forKey: "k") }, { _ = try $0.withFile(forKey: "k") { _ in } },
    { _ = try $0.contains("k") }, { _ = try $0.entry(forKey: "k") }, { _ = try $0.entries() },
    { _ = try $0.count() }, { _ = try $0.totalSize() }, { _ = try $0.totalSize(.allocatedBytes) },
    { _ = try $0.survey() }, { _ = try $0.verify() }, { try $0.remove(forKey: "k") },
    { try $0.removeAll() }, { _ = try $0.removeAllInBackground() }, { try $0.removeExpired() },
    { try $0.trim(toCost: 0) }, { try $0.trim(toCount: 0) }, { try $0.trim(toAge: .zero) },
    { try $0.flush() },
  ]

  /// Returns the error code that each of them throws; nil for none.
  static func codes(_ cache: DiskCache) -> [CacheError.Code?] {
    uses.map { use in
      do {
        try use(cache)
        return nil
      } catch {
        return (error as? CacheError)?.code
      }
    }
  }
}
