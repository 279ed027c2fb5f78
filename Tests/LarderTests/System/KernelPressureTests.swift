import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The kernel's own triggers, if the machine has them.
@Suite(.watched, .enabled(if: KernelFeatures.hasPressureTrigger))
struct KernelPressureTests {
  @Test(arguments: [2, 4, 6, 8, 10])
  func `the kernel takes every window that the configuration takes`(_ seconds: Int) throws {
    _ = try PressureFile.trigger(
      PressureFile.machine, threshold: .milliseconds(1), window: .seconds(seconds))
  }

  @Test
  func `a monitor watches its own cgroup or the machine, and says which`() {
    let own = MemoryPressureMonitor()
    #expect(own.status.isWatching)
    var configuration = MemoryPressureMonitor.Configuration()
    configuration.scope = .machine
    let machine = MemoryPressureMonitor(configuration)
    #expect(machine.status.source == .file(PressureFile.machine))
    own.stop()
    machine.stop()
  }

  @Test
  func `nothing stays open and no thread stays, whether a monitor is stopped or released`() async {
    await #expect(processExitsWith: .success) {
      // The test's environment opens a few meanwhile, whereas 50 leaking monitors would leave many.
      let (threads, events) = (
        OpenResources.threads.count, OpenResources.descriptors(of: "eventfd").count
      )
      for round in 0..<50 {
        let monitor = MemoryPressureMonitor()
        if round.isMultiple(of: 2) { monitor.stop() }
      }
      let waiting = Happening()
      let isClosed = waiting.wait {
        OpenResources.descriptors(of: "pressure").isEmpty
          && OpenResources.descriptors(of: "eventfd").count < events + 10
          && OpenResources.threads.count < threads + 10
      }
      precondition(isClosed, "something stayed open")
    }
  }

  @Test
  func `real waiting for memory makes a cache give up a share`() throws {
    let heard = Happening()
    let steps = Shared<[MemoryPressureStep]>([])
    var configuration = MemoryPressureMonitor.Configuration()
    configuration.scope = .machine
    configuration.threshold = .milliseconds(1)
    configuration.stepListener = { step in
      steps.change { $0.append(step) }
      heard.tell()
    }
    let cache = MemoryCache<Int, Int>()
    for key in 0..<100 { cache.store(key, forKey: key) }
    let monitor = MemoryPressureMonitor(configuration)
    monitor.attach(cache)
    let start = try #require(MemoryStall.total)
    let stall = try MemoryStall()
    var waited = Duration.zero
    for _ in 0..<20 where waited < .milliseconds(20) {
      stall.stall()
      waited = (MemoryStall.total ?? start) - start
    }
    // On a file system in memory, or if the kernel does not reclaim the pages, there is no waiting.
    guard waited >= .milliseconds(20) else { return }
    #expect(heard.wait { !steps.value.isEmpty })
    #expect(steps.value.first == .reduce(share: 0.5))
    #expect(cache.count <= 50)
    #expect(monitor.status.signals > 0)
    monitor.stop()
  }
}
