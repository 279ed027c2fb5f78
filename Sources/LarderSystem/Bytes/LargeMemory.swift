#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Memory for buffers that can grow to many megabytes.
///
/// Large memory is mapped by itself, so that freeing it returns it to the system and leaves no hole
/// in the heap. It is mapped in huge pages, because random accesses to a million places miss the
/// translation cache each time: 2 MiB pages make a hit there a tenth faster. The kernel may ignore
/// the request. See: man 2 madvise, MADV_HUGEPAGE.
@usableFromInline
package enum LargeMemory {
  /// The size of a huge page on the most common machines with Linux.
  private static let pageSize = 2 << 20

  /// The size of a cache line on these machines.
  private static let lineSize = 64

  /// Whether memory of a size is mapped and not taken from the heap.
  ///
  /// Allocation and deallocation both decide by the size, so it need not be recorded.
  private static func isMapped(_ byteCount: Int) -> Bool { byteCount >= 2 * pageSize }

  /// Allocates memory, to be freed with `deallocate(_:byteCount:)`.
  @usableFromInline
  package static func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer {
    guard isMapped(byteCount) else {
      // At the start of a cache line, so that an element of half a line is never in two.
      return .allocate(byteCount: byteCount, alignment: max(alignment, lineSize))
    }
    // One huge page more than needed, so that the mapping contains an aligned start.
    let start = unsafe map(byteCount + pageSize)
    // Only whole aligned pages can be huge, so the part before the first one is unmapped.
    let excess = (pageSize - Int(bitPattern: start) % pageSize) % pageSize
    let memory = unsafe start + excess
    if excess > 0 { unsafe munmap(start, excess) }
    if excess < pageSize { unsafe munmap(memory + rounded(byteCount), pageSize - excess) }
    // The result is ignored, because ordinary pages do if huge ones are turned off.
    unsafe madvise(memory, byteCount, MADV_HUGEPAGE)
    return unsafe memory
  }

  /// Frees memory that was allocated with the same size.
  @usableFromInline
  package static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    if isMapped(byteCount) {
      unsafe munmap(memory, rounded(byteCount))
    } else {
      unsafe memory.deallocate()
    }
  }

  /// Maps memory. Corresponds to `mmap`; without memory it traps, as an allocation does.
  private static func map(_ byteCount: Int) -> UnsafeMutableRawPointer {
    let memory = unsafe mmap(
      nil, rounded(byteCount), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, UInt(bitPattern: memory) != .max else {
      fatalError("out of memory: \(byteCount) bytes for a cache")
    }
    return unsafe memory
  }

  /// Rounds up to whole pages of any size that hardware has.
  private static func rounded(_ byteCount: Int) -> Int {
    (byteCount + 0xffff) & ~0xffff
  }
}
