import Foundation
import Synchronization
import Testing

/// Who waits for what, to be told when a wait ends in vain or the run hangs.
final class WaitTable: Sendable {
  static let shared = WaitTable()

  /// A wait in progress.
  struct Wait {
    let what: String
    let place: SourceLocation
    let test: String?
    let began: Duration
    let limit: Duration
    /// Ends the wait, by what it waits for.
    var giveUp: (@Sendable () -> Void)?

    var text: String {
      "\(what) at \(place.fileName):\(place.line)\(test.map { ", in \($0)" } ?? ""), since "
        + (MachineTime.now - began).inSeconds
    }
  }

  private let waits = Mutex<(next: Int, running: [Int: Wait])>((0, [:]))

  var texts: [String] { waits.withLock { $0.running.sorted { $0.key < $1.key }.map(\.value.text) } }
  var isEmpty: Bool { waits.withLock { $0.running.isEmpty } }

  /// Writes a wait down, runs a body and returns what it returned and whether the limit was passed
  /// meanwhile.
  func note<Result>(
    _ what: String, _ limit: Duration, _ place: SourceLocation,
    giveUp: (@Sendable () -> Void)?, _ body: () throws -> Result
  ) rethrows -> (result: Result, isOverdue: Bool) {
    let wait = Wait(
      what: what, place: place, test: Test.current?.name, began: MachineTime.now, limit: limit,
      giveUp: giveUp)
    // The lock may be held for ever in a forked child.
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
    let now = MachineTime.now
    let overdue = waits.withLock { waits in
      var actions: [@Sendable () -> Void] = []
      for (id, wait) in waits.running where now - wait.began > wait.limit {
        if let giveUp = wait.giveUp { actions.append(giveUp) }
        waits.running[id]?.giveUp = nil
      }
      return actions
    }
    for giveUp in overdue { giveUp() }
  }
}

/// The process that loaded this code; its forked children have another.
private let ownProcess = getpid()

var isForkedChild: Bool { getpid() != ownProcess }

extension Duration {
  var inSeconds: String { "\(Int64(self / .seconds(1))) s" }
}
