import LarderBasics
import LarderDisk

extension Cache {
  /// The values that leave this cache from now on, and why: those that leave its disk tier, as
  /// ``DiskCache/removals(bufferingNewest:)`` has them.
  ///
  /// What the memory tier lets go of to keep to its limits is still in the cache; the removals of
  /// ``memory`` tell of that.
  ///
  /// - Parameter limit: The most events that wait for the task, at least 1.
  public func removals(bufferingNewest limit: Int = 100) -> RemovalEvents<DiskRemovalEvent> {
    disk.removals(bufferingNewest: limit)
  }
}
