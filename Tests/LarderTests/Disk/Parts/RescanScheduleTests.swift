import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

extension DiskCache.Configuration {
  fileprivate static func limits(_ size: Int?, _ count: Int?) -> Self {
    var configuration = Self()
    (configuration.sizeLimit, configuration.countLimit) = (size, count)
    return configuration
  }
}

/// The times at which a directory is scanned again, as a table.
struct `The schedule of later scans` {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private func schedule(bytes: UInt64, stores: Int = 1) -> RescanSchedule {
    var schedule = RescanSchedule()
    for _ in 0..<stores { schedule.noteStore(of: bytes) }
    return schedule
  }

  @Test(
    arguments: [
      (50, 1, 1_000, nil, false), (51, 1, 1_000, nil, true), (51, 1, nil, nil, false),
      (0, 3, nil, 59, true), (0, 3, nil, 60, false), (0, 3, 1_000, 59, true),
      (51, 1, 1_000, 1_000, true), (0, 0, 0, 0, false),
    ] as [(UInt64, Int, Int?, Int?, Bool)])
  func `a scan is due after more than a twentieth of a limit`(
    bytes: UInt64, stores: Int, sizeLimit: Int?, countLimit: Int?, isDue: Bool
  ) {
    let schedule = schedule(bytes: bytes, stores: stores)
    #expect(schedule.isDue(.limits(sizeLimit, countLimit), at: start) == isDue)
  }

  @Test(arguments: [(0, false), (1_999, false), (2_000, true), (60_000, true)])
  func `scans take no more than half of the time`(milliseconds: Int, isDue: Bool) {
    var schedule = schedule(bytes: 51)
    schedule.endScan(from: start, to: start.advanced(by: .seconds(2)))
    let time = start.advanced(by: .seconds(2) + .milliseconds(milliseconds))
    #expect(schedule.isDue(.limits(1_000, nil), at: time) == isDue)
  }

  @Test func `what was stored before a scan began counts no longer`() {
    var schedule = schedule(bytes: 51, stores: 4)
    #expect(schedule.byteCount == 204)
    schedule.restart()
    #expect(schedule.byteCount == 0)
    #expect(!schedule.isDue(.limits(1_000, 20), at: start))
    schedule.noteStore(of: 51)
    #expect(schedule.isDue(.limits(1_000, nil), at: start))
  }

  @Test func `one look is planned at a time, and it waits for the last store`() {
    var schedule = RescanSchedule()
    let delay = Duration.seconds(30)
    let times = [0, 20, 30, 50, 51].map { start.advanced(by: .seconds($0)) }
    let none = schedule.rest(of: delay, at: start)
    let plans = [times[0], times[1]].map { schedule.planLook(afterStoreAt: $0) }
    #expect(none == nil && plans == [true, false])
    let early = schedule.rest(of: delay, at: times[2])
    // Still planned, for the rest of the delay.
    let isPlannedAnew = schedule.planLook(afterStoreAt: times[1])
    #expect(early == .seconds(20) && !isPlannedAnew)
    let due = schedule.rest(of: delay, at: times[3])
    let isNextPlanned = schedule.planLook(afterStoreAt: times[4])
    #expect(due == .zero && isNextPlanned)
  }

  @Test(
    arguments: [
      (0, 0.0, false), (1, 0.0, true), (25, 0.5, false), (26, 0.5, true), (50, 1.0, false),
      (51, 1.0, true),
    ] as [(UInt64, Double, Bool)])
  func `a process that ends early finishes its scan by the share that it stored`(
    bytes: UInt64, chance: Double, mustFinish: Bool
  ) {
    var scans = ScanLog()
    let number = scans.begin()
    scans.rescans = schedule(bytes: bytes)
    #expect(scans.mustFinishScan(.limits(1_000, nil), chance: chance) == mustFinish)
    scans.rescans = schedule(bytes: 0, stores: Int(bytes))
    #expect(scans.mustFinishScan(.limits(nil, 1_000), chance: chance) == mustFinish)
    scans.end(number, .finished)
    scans.rescans = schedule(bytes: bytes)
    #expect(!scans.mustFinishScan(.limits(1_000, nil), chance: chance))
  }
}
