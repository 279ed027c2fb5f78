import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The decision on a file that a scan or an event found, given the known entry, as a table.
struct `A file that was met` {
  private let now = Timestamp(seconds: 1_000)

  /// Returns a known or found version of entry 1.
  private func entry(
    inode: UInt32 = 1, changed: Int64 = 10, used: Int64 = 100, expires: Int64 = 5_000
  ) -> IndexedEntry {
    var entry = IndexSample.entry(1, used: used, expires: expires)
    entry.inode = inode
    entry.changeTime = Timestamp(seconds: changed)
    return entry
  }

  private func sighting(
    _ met: IndexedEntry?, _ known: IndexedEntry?, pending: PendingStamp? = nil
  ) -> Sighting {
    Sighting(of: met, known: known, pending: pending, now: now)
  }

  @Test func `as it is known keeps its place, however old its stamp`() {
    #expect(sighting(entry(used: 1), entry(used: 900)) == .known)
    #expect(sighting(entry(used: 100), entry(used: 100)) == .known)
    #expect(sighting(nil, nil) == .known)
  }

  @Test func `with a later stamp and nothing else may be another file, used then`() {
    #expect(sighting(entry(used: 950), entry(used: 900)) == .changed(entry(used: 950)))
  }

  @Test func `with a stamp in the future counts as used now, and once`() {
    #expect(sighting(entry(used: 9_000), nil) == .changed(entry(used: 1_000)))
    #expect(sighting(entry(used: 9_000), entry(used: 500)) == .known)
  }

  @Test func `that nobody knew is new, and one that is gone is forgotten`() {
    #expect(sighting(entry(), nil) == .changed(entry()))
    #expect(sighting(nil, entry()) == .gone)
  }

  @Test func `in the place of another counts by its own stamps`() {
    let other = entry(inode: 2, changed: 10, used: 1)
    #expect(sighting(other, entry(used: 900)) == .changed(other))
  }

  @Test func `that somebody stamped keeps the later of both uses`() {
    let stamped = entry(changed: 11, used: 50, expires: 9_000)
    #expect(
      sighting(stamped, entry(used: 900))
        == .changed(entry(changed: 11, used: 900, expires: 9_000)))
    #expect(
      sighting(entry(changed: 11, used: 950), entry(used: 900))
        == .changed(entry(changed: 11, used: 950)))
  }

  @Test func `that was ended within the tick of its last change has changed`() {
    let ended = entry(used: 100, expires: 999)
    #expect(sighting(ended, entry(used: 900)) == .changed(entry(used: 900, expires: 999)))
    let pending = PendingStamp(
      inode: 1, expirySeen: Timestamp(seconds: 5_000), expiry: Timestamp(seconds: 7_000))
    #expect(sighting(entry(), entry(used: 900, expires: 7_000), pending: pending) == .known)
    #expect(
      sighting(ended, entry(used: 900, expires: 7_000), pending: pending)
        == .changed(entry(used: 900, expires: 999)))
  }

  @Test func `with an expiry that a use has met before it was known here has changed`() {
    // A neighbour has stored twice within a tick, and a read has counted a use of the newer file.
    let met = entry(used: 950, expires: 9_000)
    let pending = PendingStamp(inode: 1, expirySeen: met.expiry)
    #expect(sighting(met, entry(used: 950), pending: pending) == .changed(met))
  }

  @Test func `that was written within the tick of its last change has changed`() {
    var longer = entry(used: 900)
    longer.byteCount += 1
    #expect(sighting(longer, entry(used: 900)) == .changed(longer))
    var block = entry(used: 900)
    // Blocks that were set aside beforehand are given back without a change.
    block.allocatedByteCount += 4096
    #expect(sighting(block, entry(used: 900)) == .known)
  }

  @Test func `keeps what a use has promised, unless somebody has set another expiry`() {
    let pending = PendingStamp(
      inode: 1, expirySeen: Timestamp(seconds: 5_000), expiry: Timestamp(seconds: 7_000))
    let known = entry(used: 900, expires: 7_000)
    #expect(
      sighting(entry(changed: 11), known, pending: pending)
        == .changed(entry(changed: 11, used: 900, expires: 7_000)))
    let expired = entry(changed: 11, expires: 999)
    #expect(
      sighting(expired, known, pending: pending)
        == .changed(entry(changed: 11, used: 900, expires: 999)))
  }
}
