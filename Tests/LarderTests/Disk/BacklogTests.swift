import Testing

@testable import Larder

/// The values that wait to be written, as a value without threads.
@Suite("The backlog")
struct BacklogTests {
  private let seal = EntryWriter.Seal(
    key: CacheKey("k"), lifetime: .never, lastAccess: Timestamp(seconds: 1), expiry: .never,
    extendedData: [])

  private func subject(_ key: String) -> DiskEngine.Subject {
    DiskEngine.Subject(key: CacheKey(key), name: DiskScene.name(of: Array(key.utf8)))
  }

  private func add(_ byte: UInt8, _ key: String, to backlog: inout Backlog) {
    let isReserved = backlog.reserve(1, limit: 100)
    #expect(isReserved)
    backlog.add([byte], subject(key), seal)
  }

  private func expectNext(_ bytes: [UInt8]?, in backlog: inout Backlog) {
    let next = backlog.next()
    #expect(next?.bytes == bytes)
  }

  @Test func `values have their turns in the order of their names' first`() {
    var backlog = Backlog()
    for (byte, key) in [(1, "a"), (2, "b"), (3, "a")] as [(UInt8, String)] {
      add(byte, key, to: &backlog)
    }
    expectNext([3], in: &backlog)
    expectNext([2], in: &backlog)
    expectNext(nil, in: &backlog)
    #expect(backlog.byteCount == 2)
  }

  @Test func `a value that comes while its name is being written has a turn of its own`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let write = backlog.next()
    add(2, "a", to: &backlog)
    #expect(write.map { backlog.isCurrent($0) } == false)
    expectNext([2], in: &backlog)
    expectNext(nil, in: &backlog)
  }

  @Test func `a name that was dropped and came again has one turn`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    backlog.drop(subject("a").name)
    add(2, "a", to: &backlog)
    expectNext([2], in: &backlog)
    expectNext(nil, in: &backlog)
    #expect(backlog.byteCount == 1)
  }

  @Test func `a value that was written or replaced is not kept while others wait`() {
    var backlog = Backlog()
    add(1, "replaced", to: &backlog)
    weak let replaced = backlog[subject("replaced").name]
    add(2, "replaced", to: &backlog)
    #expect(replaced == nil)
    add(3, "waits", to: &backlog)
    weak let written = backlog.next()
    backlog.drop(subject("replaced").name)
    #expect(written == nil)
    #expect(backlog.byteCount == 1)
  }
}
