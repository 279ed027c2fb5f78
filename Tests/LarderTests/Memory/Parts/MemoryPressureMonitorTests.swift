import Glibc
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// The monitor with a descriptor and a clock of the test.
@Suite(.watched)
struct MemoryPressureMonitorTests {
  typealias Cache = MemoryCache<Int, Int>
  let clock = ManualMonotonicClock()
  let heard = Happening()
  let steps = Shared<[MemoryPressureStep]>([])
}

extension MemoryPressureMonitorTests {
  private func configuration() -> MemoryPressureMonitor.Configuration {
    var configuration = MemoryPressureMonitor.Configuration()
    configuration.stepListener = { [steps, heard] step in
      steps.change { $0.append(step) }
      heard.tell()
    }
    return configuration
  }

  private func monitor(_ bell: borrowing PressureBell) throws -> MemoryPressureMonitor {
    MemoryPressureMonitor(
      configuration(), try bell.source(), named: .descriptor, now: { [clock] in clock.now })
  }

  private func filled() -> Cache {
    let cache = Cache(.init(countLimit: 100))
    for key in 0..<100 { cache.store(key, forKey: key) }
    return cache
  }

  /// Waits until the steps are the expected ones, and returns whether they are.
  private func taken(_ expected: [MemoryPressureStep]) -> Bool {
    heard.wait { steps.value == expected }
  }

  @Test
  func `a descriptor that tells makes caches give up a share, then all, and grow again`() throws {
    let bell = try PressureBell()
    let monitor = try monitor(bell)
    let caches = [filled(), filled()]
    for cache in caches { monitor.attach(cache) }
    #expect(monitor.status.isWatching)
    bell.ring()
    #expect(taken([.reduce(share: 0.5)]))
    #expect(caches.map(\.count) == [50, 50])
    #expect(monitor.status.isUnderPressure)
    clock.advance(by: .seconds(3))
    bell.ring()
    #expect(taken([.reduce(share: 0.5), .empty]))
    #expect(caches.map(\.count) == [0, 0])
    for key in 0..<200 { caches[0].store(key, forKey: key) }
    #expect(caches[0].count == 50)
    clock.advance(by: .seconds(60))
    monitor.watch?.ring()
    #expect(taken([.reduce(share: 0.5), .empty, .restore]))
    for key in 0..<200 { caches[0].store(key, forKey: key) }
    #expect(caches[0].count == 100)
    let status = monitor.status
    #expect(!status.isUnderPressure)
    #expect(status.signals == 2)
    #expect([status.reductions, status.emptyings, status.restorations] == [1, 1, 1])
  }

  @Test
  func `the limits are restored by the thread's own wait, when the time has come`() throws {
    var configuration = configuration()
    configuration.recoveryTime = .milliseconds(1)
    let monitor = MemoryPressureMonitor(configuration, .silent, named: .descriptor)
    monitor.signal()
    #expect(taken([.reduce(share: 0.5), .restore]))
  }

  @Test
  func `the application's signal does what the kernel's does, where the kernel has none`() {
    let monitor = MemoryPressureMonitor(
      configuration(), .silent, named: .none(reason: "no such file"))
    #expect(!monitor.status.isWatching)
    let cache = filled()
    monitor.attach(cache)
    monitor.signal()
    #expect(taken([.reduce(share: 0.5)]))
    #expect(cache.count == 50)
  }

  @Test
  func `a cache with two tiers gives memory up and keeps the disk`() throws {
    let directory = try TemporaryDirectory()
    let cache = try Larder.Cache(directory: directory.path, coder: .string)
    for key in 0..<10 { try cache.store("value \(key)", forKey: "\(key)") }
    let bell = try PressureBell()
    let monitor = try monitor(bell)
    monitor.attach(cache)
    bell.ring()
    #expect(taken([.reduce(share: 0.5)]))
    #expect(cache.memory.count == 5)
    #expect(try cache.tier(forKey: "0") == .disk)
    #expect(try cache.value(forKey: "0") == "value 0")
    #expect(try cache.disk.count() == 10)
    try cache.close()
  }

  @Test
  func `stopping restores the limits, ends the thread and closes the source`() throws {
    let bell = try PressureBell()
    let monitor = try monitor(bell)
    let cache = filled()
    monitor.attach(cache)
    bell.ring()
    #expect(taken([.reduce(share: 0.5)]))
    monitor.stop()
    #expect(steps.value == [.reduce(share: 0.5), .restore])
    #expect(!monitor.status.isWatching)
    for key in 0..<200 { cache.store(key, forKey: key) }
    #expect(cache.count == 100)
    bell.ring()
    monitor.signal()
    monitor.stop()
    #expect(steps.value.count == 2)
  }

  @Test
  func `the end of the monitor restores the limits`() throws {
    let bell = try PressureBell()
    let cache = filled()
    do {
      let monitor = try monitor(bell)
      monitor.attach(cache)
      bell.ring()
      #expect(taken([.reduce(share: 0.5)]))
    }
    #expect(taken([.reduce(share: 0.5), .restore]))
    for key in 0..<200 { cache.store(key, forKey: key) }
    #expect(cache.count == 100)
  }

  @Test
  func `a listener may stop the monitor, attach and detach`() throws {
    let box = Shared<MemoryPressureMonitor?>(nil)
    let cache = filled()
    var configuration = configuration()
    let record = configuration.stepListener
    configuration.stepListener = { step in
      record?(step)
      guard step != .restore else { return }
      box.value?.detach(cache)
      box.value?.attach(cache)
      box.value?.stop()
    }
    let monitor = MemoryPressureMonitor(configuration, .silent, named: .descriptor)
    box.value = monitor
    monitor.attach(cache)
    monitor.signal()
    #expect(taken([.reduce(share: 0.5), .restore]))
    box.value = nil
    monitor.stop()
  }

  @Test
  func `a detached cache is restored and left alone`() throws {
    let bell = try PressureBell()
    let monitor = try monitor(bell)
    let cache = filled()
    monitor.attach(cache)
    bell.ring()
    #expect(taken([.reduce(share: 0.5)]))
    monitor.detach(cache)
    for key in 0..<200 { cache.store(key, forKey: key) }
    #expect(cache.count == 100)
    bell.ring()
    #expect(taken([.reduce(share: 0.5), .empty]))
    #expect(cache.count == 100)
    monitor.detach(cache)
  }

  /// A responder that the first step detaches, before it is called.
  private final class Leaver: MemoryPressureResponding {
    let monitor = Shared<MemoryPressureMonitor?>(nil)
    let steps = Shared<[MemoryPressureStep]>([])

    func respond(to step: MemoryPressureStep) {
      if step != .restore { monitor.value?.detach(self) }
      steps.change { $0.append(step) }
    }
  }

  @Test
  func `a cache that is detached while a step is on its way to it is restored in the end`() throws {
    let bell = try PressureBell()
    let monitor = try monitor(bell)
    let leaver = Leaver()
    leaver.monitor.value = monitor
    monitor.attach(leaver)
    bell.ring()
    #expect(taken([.reduce(share: 0.5)]))
    #expect(leaver.steps.value == [.restore, .reduce(share: 0.5), .restore])
    leaver.monitor.value = nil
  }

  @Test
  func `the monitor keeps no cache alive`() throws {
    let bell = try PressureBell()
    let monitor = try monitor(bell)
    weak var cache: Cache?
    do {
      let living = filled()
      monitor.attach(living)
      cache = living
    }
    #expect(cache == nil)
    bell.ring()
    #expect(taken([.reduce(share: 0.5)]))
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(-2_147_484), .seconds(Int64.min / 2)])
  func `a wait whose time passed while the process was stopped ends at once`(
    timeout: Duration
  ) throws {
    let source = PressureSource.silent
    let bell = try EventDescriptor()
    let outcome = try source.wait(or: bell, timeout: timeout)
    #expect(outcome == (false, false))
  }

  @Test
  func `a source whose other end is gone is given up, and that can be seen`() throws {
    var ends: [Int32] = [0, 0]
    #expect(unsafe pipe(&ends) == 0)
    let reader = FileDescriptor(rawValue: ends[0], faults: nil)
    let monitor = MemoryPressureMonitor(
      configuration(), PressureSource(reader, tells: .withPriority), named: .descriptor)
    #expect(monitor.status.source == .descriptor)
    close(ends[1])
    #expect(heard.wait { !monitor.status.isWatching })
    monitor.signal()
    #expect(taken([.reduce(share: 0.5)]))
  }
}
