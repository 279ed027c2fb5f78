import Foundation
import Testing

/// The system call `fork`, which a host application may use and Swift hides.
enum Fork {
  /// Runs a closure in a forked child and returns the child's exit status from `waitpid`. It is 0
  /// if the closure returned true within the limit of a wait. After the limit, the child is killed.
  ///
  /// The child ends without unwinding, because it must not continue the parent's tests.
  static func status(_ body: () throws -> Bool) -> Int32 {
    let child = fork()
    if child == 0 {
      do {
        _exit(try body() ? 0 : 1)
      } catch {
        _exit(2)
      }
    }
    return status(of: child)
  }

  /// Waits for a child as `status(_:)` does.
  static func status(of child: Int32) -> Int32 {
    var status: Int32 = -1
    let ended = waiting(for: "a forked child", giveUp: { kill(child, SIGKILL) }) {
      unsafe waitpid(child, &status, 0)
    }
    return ended == child ? status : -1
  }

  /// Returns the number of a child; 0 in the child.
  static func fork() -> Int32 {
    typealias Fork = @convention(c) () -> Int32
    guard let symbol = unsafe dlsym(nil, "fork") else { return -1 }
    return unsafe unsafeBitCast(symbol, to: Fork.self)()
  }
}
