@testable import LarderSystem

/// The way in which a file system keeps and shows the stamps of files.
struct StampSimulation: Sendable {
  /// The number of bits that hold the seconds. A later time wraps around.
  var secondBits: Int64 = 62
  /// Whether the change time of a file is never before its modification time, as on ceph-fuse.
  var changeFollowsModification = false

  /// CephFS through ceph-fuse.
  static let cephFuse = StampSimulation(secondBits: 32, changeFollowsModification: true)
}

extension FaultInjector {
  /// Keeps and shows stamps from now on as another file system does.
  func simulate(_ stamps: StampSimulation) {
    simulate(
      (
        kept: { time in
          Timestamp(
            seconds: time.seconds & (1 << stamps.secondBits - 1),
            nanoseconds: Int64(time.nanoseconds))
        },
        shown: { status in
          guard stamps.changeFollowsModification else { return }
          status.change = max(status.change, status.modification)
        }
      ))
  }
}
