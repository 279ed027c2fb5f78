import Glibc
import Larder

/// The names of files as C strings, created before anything is timed.
final class RawNames: Sendable {
  private static let stride = 64
  private let address: UInt
  let count: Int

  /// Creates the names that a cache gives to keys.
  convenience init(ofKeys keys: [String]) {
    self.init(keys.map { EntryName(CacheKey($0)).description })
  }

  init(_ names: [String]) {
    count = names.count
    let memory = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, names.count * Self.stride))
    address = UInt(bitPattern: memory)
    for (index, name) in names.enumerated() {
      precondition(name.utf8.count < Self.stride)
      unsafe strcpy(memory + index * Self.stride, name)
    }
  }

  deinit {
    unsafe UnsafeMutablePointer<CChar>(bitPattern: address)?.deallocate()
  }

  /// The name at an index.
  subscript(index: Int) -> UnsafePointer<CChar> {
    unsafe UnsafePointer<CChar>(bitPattern: address).unsafelyUnwrapped + index * Self.stride
  }
}
