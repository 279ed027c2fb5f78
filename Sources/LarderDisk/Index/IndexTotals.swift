/// What all entries of an index come to.
///
/// The sums have 128 bits: whoever may write into the directory may fill it with sparse files of
/// any length, and a sum must neither trap nor lose count when they are gone again.
struct IndexTotals: Sendable, Hashable {
  /// The number of entries.
  private(set) var count = 0
  private var bytes: UInt128 = 0
  private var allocatedBytes: UInt128 = 0

  /// The bytes of all values, or the most that 64 bits hold.
  var byteCount: UInt64 { UInt64(clamping: bytes) }

  /// The bytes set aside for all files, or the most that 64 bits hold.
  var allocatedByteCount: UInt64 { UInt64(clamping: allocatedBytes) }

  /// The allocated bytes that there were at an earlier time and are no longer there.
  func allocatedByteCount(missingSince start: IndexTotals) -> UInt64 {
    UInt64(clamping: start.allocatedBytes - min(allocatedBytes, start.allocatedBytes))
  }

  /// Counts one entry more.
  mutating func add(byteCount: UInt64, allocatedByteCount: UInt64) {
    count += 1
    bytes += UInt128(byteCount)
    allocatedBytes += UInt128(allocatedByteCount)
  }

  /// Counts one entry less, of which it is not certain that it was counted with these sizes.
  mutating func subtractAtMost(byteCount: UInt64, allocatedByteCount: UInt64) {
    count -= min(1, count)
    bytes -= min(UInt128(byteCount), bytes)
    allocatedBytes -= min(UInt128(allocatedByteCount), allocatedBytes)
  }

  /// Counts one entry less.
  ///
  /// What is taken off was added before, by the same entry, so that nothing goes below zero.
  mutating func subtract(byteCount: UInt64, allocatedByteCount: UInt64) {
    count -= 1
    bytes -= UInt128(byteCount)
    allocatedBytes -= UInt128(allocatedByteCount)
  }
}
