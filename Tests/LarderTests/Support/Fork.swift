import Foundation
import Testing

/// What a host application may do to a library, and Swift hides.
enum Fork {
  /// Runs a closure in a forked child and returns the child's exit status as `waitpid` has it: 0
  /// when the closure returned true within the limit of a wait, after which the child is killed.
  ///
  /// The child ends without unwinding: it must not take the parent's tests any further.
  static func status(_ body: () throws -> Bool) -> Int32 {
    let child = fork()
    if child == 0 {
      do {
        _exit(try body() ? 0 : 1)
      } catch {
        _exit(2)
      }
    }
    var status: Int32 = -1
    let ended = waiting(for: "a forked child", giveUp: { kill(child, SIGKILL) }) {
      unsafe waitpid(child, &status, 0)
    }
    return ended == child ? status : -1
  }

  private static func fork() -> Int32 {
    typealias Fork = @convention(c) () -> Int32
    guard let symbol = unsafe dlsym(nil, "fork") else { return -1 }
    return unsafe unsafeBitCast(symbol, to: Fork.self)()
  }
}
