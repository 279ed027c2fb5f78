import Glibc

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A real wait of this process for memory, on a small scale. Pages of a file that it uses are
/// reclaimed and read again, which the kernel counts as a wait for memory (a refault).
///
/// It needs no limit and no privileges, and takes at most 16 MiB.
final class MemoryStall {
  private static let byteCount = 16 << 20
  /// The value of MADV_PAGEOUT in asm-generic/mman-common.h, which Glibc's module lacks.
  private static let pageOut: Int32 = 21

  private let directory: TemporaryDirectory
  private let address: UInt

  init() throws {
    directory = try TemporaryDirectory()
    let path = "\(directory.path)/pages"
    let content = [UInt8](repeating: 7, count: Self.byteCount)
    let descriptor = try Path(path).open(flags: O_RDWR | O_CREAT, permissions: 0o600)
    try descriptor.write(content.span)
    // Synced, because the kernel does not reclaim dirty pages.
    try descriptor.synchronize()
    let mapped = unsafe mmap(
      nil, Self.byteCount, PROT_READ, MAP_SHARED, descriptor.rawValue, 0)
    guard unsafe mapped != MAP_FAILED, let mapped = unsafe mapped else { throw Errno.current }
    address = UInt(bitPattern: mapped)
    // Without read-ahead, so that the process waits for each page.
    unsafe madvise(mapped, Self.byteCount, MADV_RANDOM)
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), Self.byteCount) }

  /// Reclaims the pages and reads them twice, so that they count as used.
  func stall() {
    guard let pages = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
    unsafe madvise(pages, Self.byteCount, Self.pageOut)
    var sum = 0
    for _ in 0..<2 {
      for offset in stride(from: 0, to: Self.byteCount, by: 4_096) {
        sum &+= Int(unsafe pages.load(fromByteOffset: offset, as: UInt8.self))
      }
    }
    precondition(sum != 0, "the pages hold sevens")
  }

  /// The time for which tasks of the machine have waited for memory since it started; nil if the
  /// kernel does not report it.
  static var total: Duration? {
    guard let text = SystemEnvironment.text(ofFile: PressureFile.machine),
      let field = text.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix("total=") }
      )
    else { return nil }
    return Int64(field.dropFirst(6)).map { .microseconds($0) }
  }
}
