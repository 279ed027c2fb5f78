import LarderBasics
public import LarderSystem

/// Memory for the elements of a slab, owned by one value and indexed without a check in release.
///
/// Uses pointers, because with them a hit takes 0.6 of the time of a locked dictionary.
/// The owner knows what is initialised; the buffer frees the memory. Debug builds check indices.
@safe
@usableFromInline
struct SlotBuffer<Element>: ~Copyable {
  @usableFromInline
  private(set) var base: UnsafeMutablePointer<Element>
  /// The number of elements that fit.
  @usableFromInline
  private(set) var capacity: Int

  /// Allocates memory for a number of elements and initialises none.
  @inlinable
  init(capacity: Int) {
    unsafe base = Self.allocate(capacity)
    self.capacity = capacity
  }

  @inlinable
  deinit {
    unsafe Self.deallocate(base, capacity)
  }

  /// The initialised element at an index.
  @inlinable
  subscript(index: Int) -> Element {
    @inline(__always)
    _read {
      assert(index >= 0 && index < capacity, "index outside of the buffer")
      yield unsafe base[index]
    }
    @inline(__always)
    _modify {
      assert(index >= 0 && index < capacity, "index outside of the buffer")
      yield unsafe &base[index]
    }
  }
}

extension SlotBuffer {
  /// Initialises the element at an index, which must hold none.
  @inlinable @inline(__always)
  func initialize(at index: Int, to element: consuming Element) {
    assert(index >= 0 && index < capacity, "index outside of the buffer")
    unsafe (base + index).initialize(to: element)
  }

  /// Moves the element out of an index, which then holds none.
  @inlinable @inline(__always)
  func move(at index: Int) -> Element {
    assert(index >= 0 && index < capacity, "index outside of the buffer")
    return unsafe (base + index).move()
  }

  /// Changes the number of elements that fit and keeps those of a range that are initialised.
  ///
  /// Large memory changes its size without a copy if the elements may be moved bit by bit. That is
  /// asked of the type, because a weak reference, for one, must be moved by its own code. See:
  /// `_isBitwiseTakable` in stdlib/public/core/Builtin.swift of swiftlang/swift.
  ///
  /// - Complexity: O(*n*) for small memory and for such a type.
  @inlinable
  mutating func reallocate(
    capacity newCapacity: Int, keeping kept: Range<Int>, where isInitialized: (Int) -> Bool
  ) {
    assert(kept.upperBound <= min(capacity, newCapacity), "range outside of the buffer")
    let isMovable = _isBitwiseTakable(Element.self)
    let stride = MemoryLayout<Element>.stride
    if isMovable,
      let memory = unsafe LargeMemory.resize(
        base, from: capacity * stride, to: newCapacity * stride)
    {
      unsafe base = memory.bindMemory(to: Element.self, capacity: newCapacity)
    } else {
      let source = unsafe base
      unsafe base = Self.allocate(newCapacity)
      if isMovable {
        // Bytes of elements that are not initialised are copied too, and mean nothing.
        unsafe UnsafeMutableRawPointer(base + kept.lowerBound).copyMemory(
          from: source + kept.lowerBound, byteCount: kept.count * stride)
      } else {
        for index in kept where isInitialized(index) {
          unsafe (base + index).moveInitialize(from: source + index, count: 1)
        }
      }
      unsafe Self.deallocate(source, capacity)
    }
    capacity = newCapacity
  }

  @inlinable
  static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Element> {
    unsafe LargeMemory.allocate(
      byteCount: capacity * MemoryLayout<Element>.stride,
      alignment: MemoryLayout<Element>.alignment
    ).bindMemory(to: Element.self, capacity: capacity)
  }

  @inlinable
  static func deallocate(_ memory: UnsafeMutablePointer<Element>, _ capacity: Int) {
    unsafe LargeMemory.deallocate(memory, byteCount: capacity * MemoryLayout<Element>.stride)
  }
}

extension SlotBuffer where Element: BitwiseCopyable {
  /// Allocates memory for a number of elements and initialises all with zero bits, which must be a
  /// value of the type.
  ///
  /// - Complexity: O(1) for large memory, see `LargeMemory`.
  @inlinable
  init(zeroedCapacity capacity: Int) {
    self.init(capacity: capacity)
    unsafe LargeMemory.clear(base, byteCount: capacity * MemoryLayout<Element>.stride)
  }
}
