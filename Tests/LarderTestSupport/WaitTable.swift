import Foundation
import Synchronization
import Testing

/// The waits in progress, which are printed when a wait reaches its limit or the run hangs.
final class WaitTable: Sendable {
  static let shared = WaitTable()

  /// A wait in progress.
  struct Wait {
    let what: String
    let place: SourceLocation
    let test: String?
    let began: Duration
    let limit: Duration
    /// Ends the wait by ending the process or thread that it waits for.
    var giveUp: (@Sendable () -> Void)?

    var text: String {
      "\(what) at \(place.fileName):\(place.line)\(test.map { ", in \($0)" } ?? ""), since "
        + (MachineTime.now - began).inSeconds
    }
  }

  private let waits = Mutex<(next: Int, running: [Int: Wait])>((0, [:]))

  var texts: [String] { waits.withLock { $0.running.sorted { $0.key < $1.key }.map(\.value.text) } }
  var isEmpty: Bool { waits.withLock { $0.running.isEmpty } }

  /// Lists a wait while it runs a body. Returns the body's result, and whether the limit was
  /// passed.
  func note<Result>(
    _ what: String, _ limit: Duration, _ place: SourceLocation,
    giveUp: (@Sendable () -> Void)?, _ body: () throws -> Result
  ) rethrows -> (result: Result, isOverdue: Bool) {
    let wait = Wait(
      what: what, place: place, test: Test.current?.name, began: MachineTime.now, limit: limit,
      giveUp: giveUp)
    // In a forked child, a thread that does not exist there may hold the lock.
    guard !isForkedChild else { return (try body(), false) }
    let id = waits.withLock { waits in
      waits.next += 1
      waits.running[waits.next] = wait
      return waits.next
    }
    defer { _ = waits.withLock { $0.running.removeValue(forKey: id) } }
    let result = try body()
    return (result, waits.withLock { giveUp != nil && $0.running[id]?.giveUp == nil })
  }

  func giveUpWhatIsOverdue() {
    let overdue = waits.withLock { waits in
      var actions: [@Sendable () -> Void] = []
      for (id, wait) in waits.running where MachineTime.hasPassed(wait.limit, since: wait.began) {
        if let giveUp = wait.giveUp { actions.append(giveUp) }
        waits.running[id]?.giveUp = nil
      }
      return actions
    }
    for giveUp in overdue { giveUp() }
  }
}

/// The process that loaded this code. In a forked child, `getpid()` differs.
private let ownProcess = getpid()

var isForkedChild: Bool { getpid() != ownProcess }

extension Duration {
  var inSeconds: String { "\(Int64(self / .seconds(1))) s" }
}
