/// The order in which entries were last used: the data; `EntryIndex+Order.swift` has the rules.
///
/// ```
///  sorted   oldest ⇄ … ⇄ … ⇄ newest     what was used here goes to the end
///  strays   a heap, the oldest on top   what a scan or a neighbour brought out of order
/// ```
///
/// The next victim is the older of the two that come first. Of those with the same stamp the first
/// by name goes first. Nothing is ever put in order all at once: a million entries that a scan
/// brings, or that share a stamp, cost each of their victims O(log n), and no caller a pause.
///
/// A stray's link has no neighbours. Its place in the heap is kept there instead, so that the heap
/// costs 12 bytes for each stray and none for others.
struct AccessOrder: Sendable {
  var links = SlotLinks()
  var sorted = SlotLinks.Ends()
  /// Four children a node, as in the heap of the expiries.
  var strays = ChunkedArray<StampedSlot>()

  /// The last access of a slot's entry.
  func stamp(of slot: EntrySlot) -> PackedStamp { links[stampOf: slot] }
}

/// A slot and a stamp of it, in 12 bytes; a word of 64 bits would make it 16.
package struct StampedSlot: Sendable {
  private let top: UInt32
  private let bottom: UInt32
  let slot: EntrySlot

  init(_ slot: EntrySlot, _ stamp: PackedStamp) {
    self.slot = slot
    top = UInt32(truncatingIfNeeded: stamp.bits >> 32)
    bottom = UInt32(truncatingIfNeeded: stamp.bits)
  }

  var stamp: PackedStamp { PackedStamp(bits: UInt64(top) << 32 | UInt64(bottom)) }
}

extension StampedSlot {
  /// The stamp of one in the heap of the expiries.
  var expiry: PackedStamp { stamp }
}
