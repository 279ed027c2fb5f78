/// An array in chunks that never move: growing copies nothing and wastes at most one chunk.
///
/// An ordinary array copies itself when it is full and leaves up to half of its memory unused,
/// which at a million entries is a pause of milliseconds and more than the whole table of names.
/// Writing to a copy of the array copies one chunk as well, so a snapshot of an index can be read
/// while the index changes.
///
/// - Complexity: O(1), amortised where an element is added, which copies one chunk at most.
package struct ChunkedArray<Element: Sendable>: Sendable {
  // 2,048 elements of 48 bytes are 96 KiB: below the 128 KiB that malloc maps page by page, and
  // copied in microseconds.
  // Computed and not stored: a stored static of a generic type is looked up at run time.
  private static var shift: Int { 11 }
  private static var capacity: Int { 1 << shift }
  private static var mask: Int { capacity - 1 }

  private var chunks: [[Element]] = []
  /// The number of elements.
  private(set) var count = 0

  /// The element at an index.
  subscript(index: Int) -> Element {
    get { chunks[index >> Self.shift][index & Self.mask] }
    _modify { yield &chunks[index >> Self.shift][index & Self.mask] }
  }

  /// The element of a slot.
  subscript(slot: EntrySlot) -> Element {
    get { self[slot.index] }
    _modify { yield &self[slot.index] }
  }

  /// Adds an element at the end.
  ///
  /// The first chunk grows as arrays do, for small indices. Every other one has its full size.
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

  /// Sets the element of a slot, which may be the one after the last.
  mutating func put(_ element: Element, at slot: EntrySlot) {
    if slot.index == count { append(element) } else { self[slot] = element }
  }

  /// Removes the last element; its chunk stays for the next one.
  mutating func removeLast() -> Element {
    count -= 1
    return chunks[count >> Self.shift].removeLast()
  }
}

/// The place of an entry in an index: the number under which all its parts are kept.
///
/// A slot stays the same as long as its entry is indexed, and may then be given to another one.
package struct EntrySlot: Sendable, Hashable {
  private let number: UInt32

  /// No slot.
  static var none: EntrySlot { EntrySlot(Int(UInt32.max)) }

  init(_ index: Int) { number = UInt32(truncatingIfNeeded: index) }

  var index: Int { Int(number) }
}
