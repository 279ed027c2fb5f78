@testable import Larder
@testable import LarderSystem

/// A clock that only goes forward, and only when a test says so.
final class ManualMonotonicClock: Sendable {
  private let time = Shared(MonotonicTime(nanoseconds: 0))

  var now: MonotonicTime { time.value }

  func advance(by duration: Duration) {
    time.change { $0 = $0.advanced(by: duration) }
  }
}
