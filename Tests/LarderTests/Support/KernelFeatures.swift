@testable import Larder
@testable import LarderSystem

/// What the kernel of this machine can do, so that a test that needs it says so.
enum KernelFeatures {
  /// Whether the kernel takes a trigger on the machine's pressure.
  static var hasPressureTrigger: Bool {
    do throws(Errno) {
      let source = try PressureFile.trigger(
        PressureFile.machine, threshold: .milliseconds(150), window: .seconds(2))
      _ = consume source
      return true
    } catch {
      return false
    }
  }
}
