import Glibc

@testable import Larder
@testable import LarderMemory
@testable import LarderSystem

/// A source of pressure that a test raises, beside the one in the monitor that waits for it.
struct PressureBell: ~Copyable {
  private let event: EventDescriptor

  init() throws {
    event = try EventDescriptor()
  }

  /// The other end, for a monitor.
  func source() throws -> PressureSource {
    let raw = dup(event.descriptor.rawValue)
    guard raw >= 0 else { throw Errno.current }
    return PressureSource(FileDescriptor(rawValue: raw, faults: nil), tells: .byCount)
  }

  func ring() { event.raise() }
}
