import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk

struct `Kept keys` {
  private func name(_ key: CacheKey) -> EntryName {
    EntryName(digest: key.withBytes { MD5.digest(of: $0) }, fileExtension: .none)
  }

  @Test func `what is on its way into memory is not forgotten`() {
    let keys = KeptKeys()
    let (arriving, kept) = (CacheKey("arriving"), CacheKey("kept"))
    _ = keys.insert(arriving, name(arriving)) { _ in false }
    _ = keys.insert(kept, name(kept)) { _ in false }
    keys.endInsertion(of: name(kept))
    // Enough insertions that all other keys are examined.
    for number in 0..<2_000 {
      let key = CacheKey("\(number)")
      _ = keys.insert(key, name(key)) { _ in false }
      keys.endInsertion(of: name(key))
    }
    #expect(keys.key(of: name(arriving)) == arriving)
    #expect(keys.key(of: name(kept)) == nil)
  }
}
