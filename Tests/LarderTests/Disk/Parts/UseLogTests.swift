import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The uses that have not reached the disk, tested without threads or files.
struct `The log of uses` {
  private let first = IndexSample.name(1)
  private let second = IndexSample.name(2)

  private func time(_ seconds: Int64, _ nanoseconds: Int64 = 0) -> Timestamp {
    Timestamp(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// Returns the status of the file of entry 1, or of another entry, with an expiry.
  private func status(_ number: Int = 1, expires seconds: Int64 = 100) -> FileStatus {
    IndexSample.status(of: IndexSample.entry(number, expires: seconds))
  }

  /// Returns a log in which entry 1 was used.
  private func used(expiry: Int64?) -> UseLog {
    var log = UseLog()
    log.note(first, status(), expiry: expiry.map { time($0) })
    return log
  }

  @Test func `uses within one tick of the clock stay in their order`() {
    var log = UseLog()
    let accesses = [5, 5, 5, 6, 6].map { log.issueAccess(at: time($0)) }
    #expect(accesses == [time(5), time(5, 1), time(5, 2), time(6), time(6, 1)])
    #expect(log.lastAccess == time(6, 1))
  }

  @Test(
    arguments: [
      (5, 1, 5, 1_001), (4, 2_000, 5, 1_001), (4, 1_000, 4, 1_000),
      (1, 0, 1, 0), (6, 0, 6, 0),
    ] as [(Int64, Int64, Int64, Int64)])
  func `a clock that was set back by a second or more counts again`(
    seconds: Int64, nanoseconds: Int64, expected: Int64, expectedNanoseconds: Int64
  ) {
    var log = UseLog()
    log.advance(to: time(5, 1_000))
    let access = log.issueAccess(at: time(seconds, nanoseconds))
    #expect(access == time(expected, expectedNanoseconds))
  }

  @Test func `a use by another process comes before the next one here`() {
    var log = UseLog()
    _ = log.issueAccess(at: time(5))
    log.advance(to: time(5, 500))
    log.advance(to: time(3))
    let access = log.issueAccess(at: time(5))
    #expect(access == time(5, 501))
  }

  @Test func `a use is pending until it is taken or forgotten`() {
    var log = used(expiry: nil)
    log.note(second, status(2), expiry: nil)
    #expect(!log.isEmpty && log[first]?.inode == 2)
    let taken = [log.take(first), log.take(first)]
    #expect(taken[0]?.inode == 2 && taken[1] == nil && log[first] == nil)
    log.take(second)
    #expect(log.isEmpty && log[second] == nil)
  }

  @Test func `a pending extension holds for the file that was used, as it was then`() {
    let log = used(expiry: 200)
    #expect(log.expiry(of: first, status()) == time(200))
    #expect(log.expiry(of: first, status(7)) == nil)
    #expect(log.expiry(of: first, status(expires: 150)) == nil)
    #expect(log.expiry(of: second, status()) == nil)
  }

  @Test(arguments: [(nil, 200), (150, 200), (300, 300)] as [(Int64?, Int64)])
  func `a later use of the same file keeps the longest extension`(
    expiry: Int64?, expected: Int64
  ) {
    var log = used(expiry: 200)
    log.note(first, status(), expiry: expiry.map { time($0) })
    #expect(log[first]?.expiry == time(expected))
  }

  @Test(arguments: [(7, 100), (1, 150)] as [(Int, Int64)])
  func `a use of another file, or of another expiry, starts anew`(number: Int, expires: Int64) {
    var log = used(expiry: 200)
    log.note(first, status(number, expires: expires), expiry: nil)
    #expect(log[first]?.expiry == nil && log[first]?.expirySeen == time(expires))
  }

  @Test func `a drain finds the names that were pending, and ends once`() {
    var log = used(expiry: nil)
    log.note(second, status(2), expiry: nil)
    #expect(!log.isDraining)
    let slotCount = log.beginDrain()
    #expect(log.isDraining && Set(log.pending.names(in: 0..<slotCount)) == [first, second])
    _ = log.take(first)
    #expect(log.pending.names(in: 0..<slotCount) == [second])
    let otherSlotCount = log.beginDrain()
    #expect(log.pending.names(in: 0..<otherSlotCount) == [second])
    _ = log.endDrain()
    #expect(log.isDraining)
    _ = log.endDrain()
    #expect(!log.isDraining)
  }

  @Test func `the earliest deadline is planned, and the next one when that drain has ended`() {
    var log = UseLog()
    let start = MonotonicTime(nanoseconds: 0)
    let plans = [10, 10, 20, 5].map { log.planDrain(by: start.advanced(by: .seconds($0))) }
    #expect(plans == [true, false, false, true])
    _ = log.beginDrain()
    log.note(first, status(1, expires: 100), expiry: nil)
    // A drain that hangs is not planned again beside itself.
    let plansBeside = [60, 7, 30].map { log.planDrain(by: start.advanced(by: .seconds($0))) }
    _ = log.endDrain()
    // The next one is due as soon as the first use that has come meanwhile.
    let next = log.endPlannedDrain(by: start.advanced(by: .seconds(5)))
    let isPlanned = log.planDrain(by: start.advanced(by: .seconds(60)))
    #expect(plansBeside == [false, false, false] && isPlanned)
    #expect(next == start.advanced(by: .seconds(7)))
    // The drain of the tenth second, which ends late, leaves the one of the sixtieth planned.
    let late = log.endPlannedDrain(by: start.advanced(by: .seconds(10)))
    let isPlannedTwice = log.planDrain(by: start.advanced(by: .seconds(90)))
    #expect(late == nil && !isPlannedTwice)
    _ = log.take(first)
    let another = log.endPlannedDrain(by: start.advanced(by: .seconds(60)))
    #expect(another == nil)
  }
}
