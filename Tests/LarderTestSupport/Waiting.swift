package import Foundation
package import Testing

/// The error for a wait that has reached its limit.
package struct WaitedInVain: Error, CustomStringConvertible {
  let what: String
  let limit: Duration

  package var description: String {
    let others = WaitTable.shared.texts
    let rest = others.isEmpty ? "" : "; in progress: " + others.joined(separator: "; ")
    return "waited in vain for \(what), \(limit.inSeconds) of machine time\(rest)"
  }

  func record(_ place: SourceLocation) {
    Issue.record(Comment(rawValue: description), sourceLocation: place)
  }
}

/// Runs a body that blocks until an event outside, such as the end of a process. At the limit,
/// records an issue and calls `giveUp` in another thread, which must make `body` return.
package func waiting<Result>(
  for what: String, limit: Duration = MachineTime.patience,
  sourceLocation: SourceLocation = #_sourceLocation,
  giveUp: @escaping @Sendable () -> Void, _ body: () throws -> Result
) rethrows -> Result {
  let (result, isOverdue) = try WaitTable.shared.note(
    what, limit, sourceLocation, giveUp: giveUp, body)
  if isOverdue { WaitedInVain(what: what, limit: limit).record(sourceLocation) }
  return result
}

/// Waits until a condition holds, by polling.
///
/// - Throws: ``WaitedInVain`` at the limit.
package func eventually(
  _ what: String, limit: Duration = MachineTime.patience,
  sourceLocation: SourceLocation = #_sourceLocation, _ holds: () throws -> Bool
) throws {
  let pause = DispatchSemaphore(value: 0)
  let began = MachineTime.now
  try WaitTable.shared.note(what, limit, sourceLocation, giveUp: nil) {
    while try !holds() {
      guard !MachineTime.hasPassed(limit, since: began) else {
        throw WaitedInVain(what: what, limit: limit)
      }
      _ = pause.wait(timeout: .now() + .milliseconds(1))
    }
  }.result
}

/// Waits until a condition holds that other tasks bring about. Lets them run meanwhile.
///
/// - Throws: ``WaitedInVain`` at the limit, or what the condition throws.
package func eventually(
  _ what: String, limit: Duration = MachineTime.patience,
  sourceLocation: SourceLocation = #_sourceLocation, _ holds: () async throws -> Bool
) async throws {
  let began = MachineTime.now
  while try await !holds() {
    guard !MachineTime.hasPassed(limit, since: began) else {
      throw WaitedInVain(what: what, limit: limit)
    }
    await Task.yield()
  }
}

extension DispatchSemaphore {
  /// Waits for a signal. At the limit, records an issue and returns false.
  @discardableResult
  package func wait(
    for what: String, limit: Duration = MachineTime.patience,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Bool {
    let began = MachineTime.now
    let isSignalled = WaitTable.shared.note(what, limit, sourceLocation, giveUp: nil) {
      while wait(timeout: .now() + .milliseconds(100)) == .timedOut {
        if MachineTime.hasPassed(limit, since: began) { return false }
      }
      return true
    }.result
    if !isSignalled { WaitedInVain(what: what, limit: limit).record(sourceLocation) }
    return isSignalled
  }
}

extension Process {
  /// Waits for the end of the process. At the limit, kills it with its children.
  package func waitUntilExitPatiently(
    limit: Duration = MachineTime.patience, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    waitPatiently(limit: limit, sourceLocation: sourceLocation) { waitUntilExit() }
  }

  /// Runs a body that ends when the process does, such as reading all its output.
  package func waitPatiently<Result>(
    limit: Duration = MachineTime.patience, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
  ) rethrows -> Result {
    let (name, child) = (executableURL?.lastPathComponent ?? "?", processIdentifier)
    let line = ([name] + (arguments ?? [])).joined(separator: " ")
    return try waiting(
      for: "the end of process \(child), \(line)", limit: limit, sourceLocation: sourceLocation,
      giveUp: { Processes.kill(child, SIGKILL) }, body)
  }
}
