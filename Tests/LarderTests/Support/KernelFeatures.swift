@testable import Larder
@testable import LarderSystem

/// The features of this machine's kernel, for tests that need them.
enum KernelFeatures {
  /// Whether the kernel accepts a trigger on the machine's pressure.
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
