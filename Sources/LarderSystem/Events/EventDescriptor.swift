#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A descriptor through which one thread wakes another that waits for descriptors. Corresponds to
/// `eventfd`.
package struct EventDescriptor: ~Copyable, Sendable {
  let descriptor: FileDescriptor

  /// Makes a descriptor that is not raised. Corresponds to
  /// `eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)`.
  package init() throws(Errno) {
    let raw = try system(.eventfd, nil) { c_eventfd(0, O_CLOEXEC | O_NONBLOCK) }
    descriptor = FileDescriptor(rawValue: raw, faults: nil)
  }

  /// Makes the descriptor readable until it is cleared. Raising it twice has the same effect as
  /// once.
  package func raise() {
    var one: UInt64 = 1
    let bytes = unsafe withUnsafeBytes(of: &one) { unsafe Array($0) }
    // This can only fail if the count is full, and then the descriptor is raised.
    do throws(Errno) { try descriptor.write(bytes.span) } catch {}
  }

  /// Makes the descriptor unreadable again.
  func clear() { descriptor.drainEvent() }
}

extension FileDescriptor {
  /// Reads the count of an event descriptor, which makes it unreadable.
  func drainEvent() {
    var count: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
    // This can only fail if there is nothing to read, and then the descriptor is clear.
    do throws(Errno) { _ = try read(into: &count) } catch {}
  }
}
