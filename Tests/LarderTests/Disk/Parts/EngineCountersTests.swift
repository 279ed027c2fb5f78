import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The counters of an engine, as a table: each event changes its own statistics and no others.
struct `The counters of an engine` {
  private func snapshot(_ change: (inout DiskStatistics) -> Void) -> DiskStatistics {
    expected(change).snapshot(ScanLog())
  }

  private func expected(_ change: (inout DiskStatistics) -> Void) -> DiskStatistics {
    var statistics = DiskStatistics()
    change(&statistics)
    return statistics
  }

  @Test func `nothing has happened at first`() {
    #expect(snapshot { _ in } == DiskStatistics())
  }

  @Test func `operations of callers`() {
    #expect(
      snapshot { $0.countHit(of: 5) }
        == expected { statistics in
          statistics.hits = 1
          statistics.bytesRead = 5
        })
    #expect(
      snapshot { $0.countStore(of: 7) }
        == expected { statistics in
          statistics.stores = 1
          statistics.bytesWritten = 7
        })
  }

  @Test func `removals by their causes`() {
    let statistics = snapshot { counters in
      for cause in RemovalCause.allCases + [.evicted] { counters.countRemoval(cause) }
    }
    #expect(
      statistics.removals == [.explicit: 1, .replaced: 1, .expired: 1, .evicted: 2, .corrupt: 1])
  }

  @Test func `misses by their reasons, those without a file as well`() {
    let statistics = snapshot { counters in
      for reason: MissReason in [.absent, .expired, .absent, .damaged] {
        counters.countMiss(reason)
      }
    }
    #expect(statistics.misses == [.absent: 2, .expired: 1, .damaged: 1])
    #expect(statistics.missCount == 4)
  }

  @Test func `bytes beyond what a number holds count as the largest`() {
    let statistics = snapshot { counters in
      for _ in 0..<2 { counters.countHit(of: .max) }
      counters.countStore(of: .max)
    }
    #expect(statistics.bytesRead == .max && statistics.bytesWritten == .max && statistics.hits == 2)
  }

  @Test func `the scan is told as the log of scans has it`() {
    var scans = ScanLog()
    let number = scans.begin()
    #expect(DiskStatistics().snapshot(scans) == expected { $0.scan = .running })
    scans.end(number, .finished, foreignCount: 3)
    let statistics = DiskStatistics().snapshot(scans)
    #expect(statistics.scan == .finished && statistics.foreignCount == 3)
  }
}
