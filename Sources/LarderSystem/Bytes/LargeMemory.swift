#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Memory for buffers that can grow to many megabytes.
///
/// A large one is mapped by itself, so that giving it back really returns it to the system instead
/// of leaving a hole in the heap, and in huge pages: what is reached at random in a million places
/// misses the translation cache each time, and 2 MiB pages take a tenth off a hit there. The kernel
/// is free to ignore that wish. See: man 2 madvise, MADV_HUGEPAGE.
@usableFromInline
package enum LargeMemory {
  /// The size of a huge page on the machines that Linux runs on most.
  private static let pageSize = 2 << 20

  /// The size of a cache line, likewise.
  private static let lineSize = 64

  /// Whether memory of that size is mapped and not taken from the heap.
  ///
  /// Both ends of a piece of memory decide by its size, so that nothing has to be kept about it.
  private static func isMapped(_ byteCount: Int) -> Bool { byteCount >= 2 * pageSize }

  /// Allocates memory, to be given back with `deallocate(_:byteCount:)`.
  @usableFromInline
  package static func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer {
    guard isMapped(byteCount) else {
      // From the start of a cache line on, so that an element of half a line is never in two.
      return .allocate(byteCount: byteCount, alignment: max(alignment, lineSize))
    }
    // One huge page more than needed, so that an aligned start is among them wherever the mapping
    // lies.
    let start = unsafe map(byteCount + pageSize)
    // Only whole aligned pages can be huge: what lies before the first goes back.
    let excess = (pageSize - Int(bitPattern: start) % pageSize) % pageSize
    let memory = unsafe start + excess
    if excess > 0 { unsafe munmap(start, excess) }
    if excess < pageSize { unsafe munmap(memory + rounded(byteCount), pageSize - excess) }
    // The outcome is ignored: where huge pages are turned off, ordinary ones do.
    unsafe madvise(memory, byteCount, MADV_HUGEPAGE)
    return unsafe memory
  }

  /// Gives memory back that was allocated with the same size.
  @usableFromInline
  package static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    if isMapped(byteCount) {
      unsafe munmap(memory, rounded(byteCount))
    } else {
      unsafe memory.deallocate()
    }
  }

  /// Corresponds to `mmap`; without memory it traps, as an allocation does.
  private static func map(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let memory = unsafe mmap(
      nil, rounded(byteCount), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, UInt(bitPattern: memory) != .max else {
      fatalError("out of memory: \(byteCount) bytes for a cache")
    }
    return unsafe memory
  }

  /// Up to whole pages of any size that hardware has.
  private static func rounded(_ byteCount: Int) -> Int {
    (byteCount + 0xffff) & ~0xffff
  }
}
