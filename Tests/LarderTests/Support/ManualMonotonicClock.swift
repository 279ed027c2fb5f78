@testable import Larder
@testable import LarderSystem

/// A monotonic clock that a test advances.
final class ManualMonotonicClock: Sendable {
  private let time = Shared(MonotonicTime(nanoseconds: 0))

  var now: MonotonicTime { time.value }

  func advance(by duration: Duration) {
    time.change { $0 = $0.advanced(by: duration) }
  }
}
