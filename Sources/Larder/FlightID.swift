import LarderSystem
import Synchronization

/// One load, unlike any other of the process.
struct FlightID: Hashable, Sendable {
  private let number: UInt64
  private static let last = Atomic<UInt64>(0)

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

/// One caller that waits for a load, unlike any other of the process.
struct WaiterID: Hashable, Sendable {
  private let number: UInt64
  private static let last = Atomic<UInt64>(0)

  init() {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
