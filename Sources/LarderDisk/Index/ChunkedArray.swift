import LarderBasics

/// An array in chunks that never move: growing copies nothing and wastes at most one chunk.
///
/// An ordinary array copies itself when it is full and leaves up to half of its memory unused,
/// which at a million entries is a pause of milliseconds and more than the whole table of names.
/// Writing to a copy of the array copies one chunk as well, so a snapshot of an index can be read
/// while the index changes.
package struct ChunkedArray<Element: Sendable>: Sendable {
  // 2,048 elements of 36 bytes are 72 KiB: below what malloc maps page by page, and copied in
  // microseconds.
  // Computed and not stored: a stored static of a generic type is looked up at run time.
  private static var shift: Int { 11 }
  private static var capacity: Int { 1 << shift }
  private static var mask: Int { capacity - 1 }

  private var chunks: [[Element]] = []
  /// The number of elements.
  private(set) var count = 0

  /// The element at an index.
  ///
  /// - Complexity: O(1).
  subscript(index: Int) -> Element {
    get { chunks[index >> Self.shift][index & Self.mask] }
    _modify { yield &chunks[index >> Self.shift][index & Self.mask] }
  }

  /// Adds an element at the end.
  ///
  /// The first chunk grows as arrays do, so that a small index stays small. Every other one has its
  /// full size from the start.
  ///
  /// - Complexity: O(1) amortised, with at most one chunk copied.
  mutating func append(_ element: Element) {
    let index = count >> Self.shift
    if index == chunks.count {
      chunks.append([])
      // Reserved before the first element, so that the chunk never moves.
      if index > 0 { chunks[index].reserveCapacity(Self.capacity) }
    }
    chunks[index].append(element)
    count += 1
  }

  /// Removes the last element; its chunk stays for the next one.
  ///
  /// - Complexity: O(1).
  mutating func removeLast() -> Element {
    count -= 1
    return chunks[count >> Self.shift].removeLast()
  }
}

extension ChunkedArray {
  /// The element of a slot.
  ///
  /// - Complexity: O(1).
  subscript(slot: EntrySlot) -> Element {
    get { self[Int(slot.number)] }
    _modify { yield &self[Int(slot.number)] }
  }

  /// Sets the element of a slot, which may be the one after the last.
  ///
  /// - Complexity: O(1) amortised.
  mutating func put(_ element: Element, at slot: EntrySlot) {
    if Int(slot.number) == count {
      append(element)
    } else {
      self[slot] = element
    }
  }
}
