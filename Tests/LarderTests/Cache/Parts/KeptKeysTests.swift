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
    for number in 0..<50_000 {
      let name = IndexSample.name(number)
      _ = keys.insert(CacheKey("\(number)"), name) { _ in false }
      keys.endInsertion(of: name)
    }
    #expect(keys.key(of: name(arriving)) == arriving)
    #expect(keys.key(of: name(kept)) == nil)
  }

  @Test func `an insertion looks at few of the keys under the lock, and loses none in memory`() {
    let keys = KeptKeys()
    var most = 0
    for number in 0..<50_000 {
      var count = 0
      let name = IndexSample.name(number)
      _ = keys.insert(CacheKey("\(number)"), name) { _ in
        count += 1
        return true
      }
      keys.endInsertion(of: name)
      most = max(most, count)
    }
    #expect(most < 500)
    #expect((0..<50_000).allSatisfy { keys.key(of: IndexSample.name($0)) == CacheKey("\($0)") })
  }
}
