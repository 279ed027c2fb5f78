import LarderLibc

/// Memory for buffers that can grow to many megabytes.
///
/// Large memory is mapped by itself, so that freeing it returns it to the system and leaves no hole
/// in the heap, and so that it can grow without a copy. It is mapped in huge pages, because random
/// accesses to a million places miss the translation cache each time: 2 MiB pages make a hit there
/// a tenth faster. The kernel may ignore the request. See: man 2 madvise, MADV_HUGEPAGE.
@usableFromInline
package enum LargeMemory {
  /// The size of a huge page on the most common machines with Linux.
  private static let pageSize = 2 << 20

  /// The size of a cache line on these machines.
  private static let lineSize = 64

  /// Whether memory of a size is mapped and not taken from the heap.
  ///
  /// All functions decide by the size, so it need not be recorded.
  private static func isMapped(_ byteCount: Int) -> Bool { byteCount >= pageSize }

  /// Allocates memory, to be freed with `deallocate(_:byteCount:)`.
  @usableFromInline
  package static func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer {
    guard isMapped(byteCount) else {
      // At the start of a cache line, so that an element of half a line is never in two.
      return .allocate(byteCount: byteCount, alignment: max(alignment, lineSize))
    }
    guard let memory = unsafe map(rounded(byteCount), PROT_READ | PROT_WRITE) else {
      fatalError("out of memory: \(byteCount) bytes for a cache")
    }
    // The result is ignored, because ordinary pages do if huge ones are turned off. All of the
    // mapping is advised, because `mremap` moves no two areas that differ in advice at once.
    unsafe madvise(memory, rounded(byteCount), MADV_HUGEPAGE)
    return unsafe memory
  }

  /// Sets the bytes of memory that was just allocated to 0.
  ///
  /// - Complexity: O(1) for large memory, which the kernel clears page by page at the first use.
  @usableFromInline
  package static func clear(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    if !isMapped(byteCount) { unsafe memset(memory, 0, byteCount) }
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
}

extension LargeMemory {
  /// Changes the size of memory without a copy, and returns its new place.
  ///
  /// The kernel moves the page tables and keeps the advice for the added part. See: man 2 mremap.
  ///
  /// - Returns: nil, with the memory as it was, if one of the sizes is too small to be mapped or
  ///   the kernel refuses.
  /// - Complexity: O(*n* / 2 MiB) to grow, O(pages) to give memory back.
  @usableFromInline
  package static func resize(
    _ memory: UnsafeMutableRawPointer, from oldByteCount: Int, to newByteCount: Int
  ) -> UnsafeMutableRawPointer? {
    guard isMapped(oldByteCount), isMapped(newByteCount) else { return nil }
    let (old, new) = (rounded(oldByteCount), rounded(newByteCount))
    guard new > old else {
      if new < old { unsafe munmap(memory + new, old - new) }
      return unsafe memory
    }
    // Moves to a place with an aligned start, because only then the kernel moves page tables as a
    // whole, and huge pages as they are.
    guard let target = unsafe map(new, PROT_NONE) else { return nil }
    // If it fails, the target is left mapped or not, and cannot be unmapped: another thread may
    // have mapped its own memory there. It takes addresses but no memory.
    let moved = unsafe c_mremap(memory, old, new, 3, target)
    return unsafe moved == target ? target : nil
  }

  /// Maps memory that starts at a multiple of a huge page. Corresponds to `mmap`.
  ///
  /// - Returns: nil if there is no memory.
  private static func map(_ byteCount: Int, _ protection: Int32) -> UnsafeMutableRawPointer? {
    // One huge page more than needed, so that the mapping contains an aligned start.
    let start = unsafe mmap(
      nil, byteCount + pageSize, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start = unsafe start, UInt(bitPattern: start) != .max else { return nil }
    // What is before and behind the aligned part is unmapped.
    let excess = (pageSize - Int(bitPattern: start) % pageSize) % pageSize
    let memory = unsafe start + excess
    if excess > 0 { unsafe munmap(start, excess) }
    if excess < pageSize { unsafe munmap(memory + byteCount, pageSize - excess) }
    return unsafe memory
  }

  /// Rounds up to whole pages of any size that hardware has.
  private static func rounded(_ byteCount: Int) -> Int {
    (byteCount + 0xffff) & ~0xffff
  }
}
