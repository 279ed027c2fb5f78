import LarderSystem
import Synchronization

/// The name of a write in progress: `.larder-<pid>-<serial>`.
///
/// A number is used again when its file has its own name or is gone: so a directory sees few of
/// these names, whose places in it are at hand. With a new number each time, storing over a value
/// took 1.13 of the time.
struct TemporaryName: Sendable {
  let fileName: FileName
  private let number: UInt64

  // One for all caches of the process, which may share a directory under two engines for a moment.
  // A forked child has its own, and begins again: its names differ by the process.
  private static let numbers = PerProcess { ForkSafeMutex(Numbers()) }

  private struct Numbers {
    var free: [UInt64] = []
    var last: UInt64 = 0
  }

  /// Takes a number that no write of this process has.
  init() {
    number = Self.numbers.own.value.withLock { numbers in
      if let number = numbers.free.popLast() { return number }
      numbers.last += 1
      return numbers.last
    }
    var name = FileName(".larder-")
    // Asked anew each time: a forked child must not write under its parent's name.
    name.append(decimal: UInt64(ProcessIdentity.pid))
    name.append(UInt8(ascii: "-"))
    name.append(decimal: number)
    fileName = name
  }

  /// Gives the number back, when no file has the name any more.
  ///
  /// A name that somebody else turned out to have is not given back: it would be tried for ever.
  func giveBack() {
    Self.numbers.own.value.withLock { $0.free.append(number) }
  }
}
