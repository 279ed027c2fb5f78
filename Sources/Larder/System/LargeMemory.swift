#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Memory in huge pages where it is large enough to gain from them.
@usableFromInline
enum LargeMemory {
  /// The size of a huge page on the machines that Linux runs on most.
  private static let pageSize = 2 << 20

  /// Allocates memory, to be given back with `UnsafeMutableRawPointer.deallocate()`.
  ///
  /// What is reached at random in millions of places misses the translation cache each time. 2 MiB
  /// pages take a tenth off a hit at a million entries. The kernel is free to ignore the wish.
  /// See: man 2 madvise, MADV_HUGEPAGE.
  @usableFromInline
  static func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer {
    guard byteCount >= 2 * pageSize else {
      return .allocate(byteCount: byteCount, alignment: alignment)
    }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageSize)
    unsafe madvise(memory, byteCount, MADV_HUGEPAGE)
    return unsafe memory
  }
}
