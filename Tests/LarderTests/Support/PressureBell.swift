import Glibc

@testable import Larder
@testable import LarderMemory
@testable import LarderSystem

/// A source of pressure that a test triggers, shared with a monitor that waits for it.
struct PressureBell: ~Copyable {
  private let event: EventDescriptor

  init() throws {
    event = try EventDescriptor()
  }

  /// Returns the other end, for a monitor.
  func source() throws -> PressureSource {
    let raw = dup(event.descriptor.rawValue)
    guard raw >= 0 else { throw Errno.current }
    return PressureSource(FileDescriptor(rawValue: raw, faults: nil), tells: .byCount)
  }

  func ring() { event.raise() }
}
