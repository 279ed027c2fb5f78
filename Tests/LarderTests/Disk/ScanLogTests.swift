import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The log of scans, tested without threads or files.
@Suite("The log of scans")
struct ScanLogTests {
  private let first = IndexSample.name(1)
  private let second = IndexSample.name(2)

  /// Returns a log whose first scan has ended.
  private func scanned() -> ScanLog {
    var log = ScanLog()
    _ = log.end(log.begin(), .finished)
    return log
  }

  private func slot(_ number: UInt32) -> EntrySlot { EntrySlot(number: number) }

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
    #expect(log.isFirst(number) && log.isOngoing(number))
    _ = log.end(number, outcome)
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
    #expect(!log.isFirst(number))
    _ = log.end(number, outcome)
    #expect(log.progress == .finished && log.mayRescan)
  }

  @Test func `what is stored brings the next scan closer, counted from the end of the first`() {
    var log = ScanLog()
    let first = log.begin()
    log.rescans.noteStore(of: 7)
    #expect(log.rescans.byteCount == 7)
    _ = log.end(first, .finished)
    #expect(log.rescans.byteCount == 0)
    log.rescans.noteStore(of: 8)
    let second = log.begin()
    #expect(log.rescans.byteCount == 0)
    log.rescans.noteStore(of: 9)
    _ = log.end(second, .finished)
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
    let counts = [log.addForeign(1, scan: old), log.addForeign(2, scan: new)]
    #expect(counts == [false, true])
    log.beginReading(old, [Bool](repeating: false, count: 8))
    #expect(log.marks(of: old) == nil && log.marks(of: new) == nil && !log.hasRead)
    log.beginReading(new, [Bool](repeating: false, count: 8))
    #expect(log.marks(of: old) == nil && log.marks(of: new) != nil && log.hasRead)
    let endings = [old, new, new].map { log.end($0, .finished) != nil }
    #expect(endings == [false, true, false])
    #expect(log.foreignCount == 2)
  }

  @Test func `a complete index that no longer says what there is has to be filled anew`() {
    var log = scanned()
    log.reset()
    #expect(log.needsScan && !log.mayRescan)
    let number = log.begin()
    #expect(log.isFirst(number) && log.progress == .running)
  }

  @Test func `names that change are noted while a scan goes on, and only then`() {
    var log = scanned()
    log.noteChange(of: first)
    #expect(!log.hasChanged(first))
    let number = log.begin()
    #expect(!log.hasChanged(first))
    log.noteChange(of: first)
    #expect(log.hasChanged(first) && !log.hasChanged(second))
    let remains = log.end(number, .finished)
    #expect(remains?[first] != nil && remains?[second] == nil)
    #expect(!log.hasChanged(first))
  }

  @Test func `the next scan begins with no name changed`() {
    var log = scanned()
    let number = log.begin()
    log.noteChange(of: first)
    _ = log.end(number, .finished)
    _ = log.begin()
    #expect(!log.hasChanged(first))
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
    let isOngoing = log.addForeign(1, scan: log.number)
    #expect(log.marks(of: log.number) == nil && !isOngoing)
  }

  @Test func `what is given up is over, and a first scan has to be started anew`() {
    var later = scanned()
    var first = ScanLog()
    for (number, isFirst) in [(first.begin(), true), (later.begin(), false)] {
      var log = isFirst ? first : later
      log.noteChange(of: self.first)
      log.giveUp()
      #expect(!log.isOngoing && !log.hasChanged(self.first) && log.needsScan == isFirst)
      let ending = log.end(number, .finished)
      #expect(ending == nil && log.isComplete != isFirst)
    }
  }

  @Test func `foreign things are those of the last scan that came to its end`() {
    var log = ScanLog()
    for (counts, outcome, expected) in [
      ([2, 3], .finished, 5), ([7], .failed(.ioError), 5), ([9], .notStarted, 5),
      ([], .finished, 0),
    ] as [([Int], DiskStatistics.ScanProgress, Int)] {
      let number = log.begin()
      for count in counts { _ = log.addForeign(count, scan: number) }
      _ = log.end(number, outcome)
      #expect(log.foreignCount == expected)
    }
  }

  @Test func `a missed change asks for another scan, which takes the note away`() {
    var log = scanned()
    #expect(!log.hasMissedChanges)
    let number = log.begin()
    log.noteMissedChanges()
    _ = log.end(number, .finished)
    #expect(log.hasMissedChanges)
    _ = log.begin()
    #expect(!log.hasMissedChanges)
  }
}
