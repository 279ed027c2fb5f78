import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The log of scans, tested without threads or files.
struct `The log of scans` {
  /// Returns a log whose first scan has ended.
  private func scanned() -> ScanLog {
    var log = ScanLog()
    log.end(log.begin(), .finished)
    return log
  }

  private func slot(_ number: Int) -> EntrySlot { EntrySlot(number) }

  @Test(
    arguments: [
      (.finished, true, false), (.notStarted, false, true), (.failed(.ioError), false, true),
    ] as [(DiskStatistics.ScanProgress, Bool, Bool)])
  func `the first scan decides whether the index is complete`(
    outcome: DiskStatistics.ScanProgress, isComplete: Bool, needsScan: Bool
  ) {
    var log = ScanLog()
    #expect(log.needsScan && !log.isComplete && !log.isOngoing && !log.mayRescan)
    let number = log.begin()
    #expect(log.progress == .running && !log.needsScan && !log.isComplete && !log.mayRescan)
    #expect(log.isOngoing(number))
    log.end(number, outcome)
    #expect(log.progress == outcome && log.isComplete == isComplete)
    #expect(log.needsScan == needsScan && log.mayRescan == isComplete && !log.isOngoing)
  }

  @Test(arguments: [.finished, .notStarted, .failed(.ioError)] as [DiskStatistics.ScanProgress])
  func `a later scan leaves the index complete, however it ends`(
    outcome: DiskStatistics.ScanProgress
  ) {
    var log = scanned()
    let number = log.begin()
    #expect(log.isComplete && log.isOngoing && !log.mayRescan && !log.needsScan)
    log.end(number, outcome)
    #expect(log.progress == .finished && log.mayRescan)
  }

  @Test func `what is stored brings the next scan closer, counted from the end of the first`() {
    var log = ScanLog()
    let first = log.begin()
    log.rescans.noteStore(of: 7)
    #expect(log.rescans.byteCount == 7)
    log.end(first, .finished)
    #expect(log.rescans.byteCount == 0)
    log.rescans.noteStore(of: 8)
    let second = log.begin()
    #expect(log.rescans.byteCount == 0)
    log.rescans.noteStore(of: 9)
    log.end(second, .finished)
    // A store during a later scan may be of a file that the scan has passed.
    #expect(log.rescans.byteCount == 9)
  }

  @Test func `a first scan that begins again goes on counting what is stored`() {
    var log = ScanLog()
    log.rescans.noteStore(of: 7)
    _ = log.begin()
    log.reset()
    _ = log.begin()
    #expect(log.rescans.byteCount == 7)
  }

  @Test func `a scan that was given up counts no longer, and its number comes once`() {
    var log = ScanLog()
    let old = log.begin()
    log.reset()
    #expect(log.progress == .notStarted && !log.isOngoing && log.needsScan)
    let new = log.begin()
    #expect(new == old + 1 && log.number == new)
    #expect(!log.isOngoing(old) && log.isOngoing(new))
    log.beginReading(old, [Bool](repeating: false, count: 8))
    #expect(log.marks(of: old) == nil && log.marks(of: new) == nil && !log.hasRead)
    log.beginReading(new, [Bool](repeating: false, count: 8))
    #expect(log.marks(of: old) == nil && log.marks(of: new) != nil && log.hasRead)
    log.end(old, .finished, foreignCount: 1)
    #expect(log.isOngoing && log.foreignCount == 0)
    for count in 2...3 { log.end(new, .finished, foreignCount: count) }
    #expect(!log.isOngoing && log.foreignCount == 2)
  }

  @Test func `a complete index that no longer says what there is has to be filled anew`() {
    var log = scanned()
    log.reset()
    #expect(log.needsScan && !log.mayRescan)
    let number = log.begin()
    #expect(log.isOngoing(number) && log.progress == .running)
  }

  @Test func `what was known and is not met lacks its mark`() {
    var log = scanned()
    let number = log.begin()
    log.beginReading(number, [false, false, false])
    log.meet(slot(1))
    // An unknown entry, and one that was stored during the scan.
    log.meet(nil)
    log.meet(slot(3))
    #expect(log.marks(of: number) == [false, true, false])
  }

  @Test func `marks are dropped where no scan goes on`() {
    var log = scanned()
    log.meet(slot(0))
    #expect(log.marks(of: log.number) == nil && !log.isOngoing(log.number))
  }

  @Test func `what is given up is over, and a first scan has to be started anew`() {
    var later = scanned()
    var first = ScanLog()
    for (number, isFirst) in [(first.begin(), true), (later.begin(), false)] {
      var log = isFirst ? first : later
      log.giveUp()
      #expect(!log.isOngoing && log.needsScan == isFirst)
      log.end(number, .finished)
      #expect(log.isComplete != isFirst)
    }
  }

  @Test func `foreign things are those of the last scan that came to its end`() {
    var log = ScanLog()
    for (count, outcome, expected) in [
      (5, .finished, 5), (7, .failed(.ioError), 5), (9, .notStarted, 5), (0, .finished, 0),
    ] as [(Int, DiskStatistics.ScanProgress, Int)] {
      log.end(log.begin(), outcome, foreignCount: count)
      #expect(log.foreignCount == expected)
    }
  }

  @Test func `a missed change asks for another scan, which takes the note away`() {
    var log = scanned()
    #expect(!log.hasMissedChanges)
    let number = log.begin()
    log.hasMissedChanges = true
    log.end(number, .finished)
    #expect(log.hasMissedChanges)
    _ = log.begin()
    #expect(!log.hasMissedChanges)
  }
}
