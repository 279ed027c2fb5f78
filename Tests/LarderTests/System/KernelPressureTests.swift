import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderMemory
@testable import LarderSystem

/// The kernel's own triggers, if the machine has them. `Tests/Reliability/pressure` shows that they
/// signal.
@Suite(.watched, .enabled(if: KernelFeatures.hasPressureTrigger))
struct KernelPressureTests {}

extension KernelPressureTests {
  @Test
  func `a monitor watches its own cgroup or the machine, and says which`() {
    let own = MemoryPressureMonitor()
    #expect(own.status.isWatching)
    var configuration = MemoryPressureMonitor.Configuration()
    configuration.watchesMachine = true
    let machine = MemoryPressureMonitor(configuration)
    #expect(machine.status.source == .file(PressureFile.machine))
    own.stop()
    machine.stop()
  }

  @Test
  func `nothing stays open and no thread stays, whether a monitor is stopped or released`() async {
    await #expect(processExitsWith: .success) {
      let (threads, events) = (
        OpenResources.threads.count, OpenResources.descriptors(of: "eventfd").count
      )
      // The test's environment opens a few meanwhile, and has a thread for each processor, whereas
      // as many leaking monitors would leave more.
      let few = 10 + ProcessInfo.processInfo.activeProcessorCount
      for round in 0..<4 * few {
        let monitor = MemoryPressureMonitor()
        if round.isMultiple(of: 2) { monitor.stop() }
      }
      let waiting = Happening()
      let isClosed = waiting.wait {
        OpenResources.descriptors(of: "pressure").isEmpty
          && OpenResources.descriptors(of: "eventfd").count < events + few
          && OpenResources.threads.count < threads + few
      }
      precondition(isClosed, "something stayed open")
    }
  }
}
