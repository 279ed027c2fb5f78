import Testing

@testable import LarderDisk
@testable import LarderSystem

/// The decisions of stores that find the disk full, as a table.
struct `Evictions for a full disk` {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)
  private let pause = Duration.seconds(30)

  private func step(
    _ disk: inout FullDiskEvictions, since count: Int = 0, after seconds: Int = 0
  ) -> FullDiskEvictions.Step? {
    disk.step(since: count, at: start.advanced(by: .seconds(seconds)), pause: pause)
  }

  /// Returns a full disk after one eviction.
  private func evicted(hasFreed: Bool) -> FullDiskEvictions {
    var disk = FullDiskEvictions()
    _ = step(&disk)
    disk.end(hasFreed: hasFreed)
    return disk
  }

  @Test func `one store evicts, and the others wait`() {
    var disk = FullDiskEvictions()
    let steps = (0..<3).map { _ in step(&disk) }
    #expect(steps == [.evict, nil, nil] && disk.count == 0)
    disk.end(hasFreed: true)
    #expect(disk.count == 1)
  }

  @Test(arguments: [(true, FullDiskEvictions.Step.retry), (false, .fail)])
  func `an eviction counts for the stores that were under way`(
    hasFreed: Bool, expected: FullDiskEvictions.Step
  ) {
    var disk = evicted(hasFreed: hasFreed)
    let waiting = step(&disk, since: 0)
    let later = step(&disk, since: 1)
    #expect(waiting == expected && later == .evict)
  }

  @Test(arguments: [(0, FullDiskEvictions.Step.fail), (29, .fail), (30, .evict)])
  func `after an eviction that helped no store there is none for a while`(
    seconds: Int, expected: FullDiskEvictions.Step
  ) {
    var disk = evicted(hasFreed: true)
    let isVain = disk.judge(hasHelped: false, at: start)
    let next = step(&disk, since: 1, after: seconds)
    #expect(isVain && next == expected)
  }

  @Test func `an eviction is vain once, and not where a store has succeeded`() {
    var disk = evicted(hasFreed: true)
    let failures = (0..<2).map { _ in disk.judge(hasHelped: false, at: start) }
    #expect(failures == [true, false])
    _ = disk.judge(hasHelped: true, at: start)
    let afterwards = disk.judge(hasHelped: false, at: start)
    let next = step(&disk, since: 1)
    #expect(!afterwards && next == .evict)
  }

  @Test func `each eviction can turn out to be vain`() {
    var disk = evicted(hasFreed: true)
    _ = disk.judge(hasHelped: true, at: start)
    _ = step(&disk, since: 1)
    disk.end(hasFreed: true)
    let isVain = disk.judge(hasHelped: false, at: start)
    #expect(isVain && disk.count == 2)
  }
}
