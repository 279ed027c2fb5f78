/// The bytes at the end of a stream that do not fill a block of `size` bytes yet.
struct PendingBlock<let size: Int> {
  private(set) var bytes = [size of UInt8](repeating: 0)
  /// The number of bytes in use in `bytes`, always less than `size` between calls.
  private(set) var count = 0

  /// Passes on every block that becomes full with these bytes, in order, and keeps the rest.
  ///
  /// - Parameter take: Processes the whole blocks of a span from an offset on, and returns the
  ///   offset behind them.
  @inline(__always)
  mutating func feed(_ next: Span<UInt8>, to take: (Span<UInt8>, Int) -> Int) {
    var offset = 0
    if count > 0 {
      offset = keep(next, from: 0)
      guard count == size else { return }
      _ = take(bytes.span, 0)
      count = 0
    }
    offset = take(next, offset)
    _ = keep(next, from: offset)
  }

  /// Copies bytes from an offset on until the block is full, and returns the offset behind them.
  private mutating func keep(_ next: Span<UInt8>, from start: Int) -> Int {
    let end = min(next.count, start + size - count)
    for offset in start..<end {
      bytes[count] = next[offset]
      count += 1
    }
    return end
  }
}
