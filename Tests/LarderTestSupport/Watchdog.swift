import Foundation
import Synchronization
package import Testing

/// A watchdog that ends a run without progress, and prints the waits in progress.
package final class Watchdog: Sendable {
  package static let shared = Watchdog()

  /// The longest time without progress, in machine time.
  private static let patience = Duration.seconds(600)

  private struct State {
    var limit = Watchdog.patience
    var nextRun = 0
    var running: [Int: String] = [:]
    var lastCount = 0
    var lastProgress = Duration.zero
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  /// Records progress. For loops that take minutes.
  package static func progress() { shared.count.add(1, ordering: .relaxed) }

  /// The machine time at which a test last began, ended or recorded progress.
  var lastProgress: Duration { state.withLock { $0.lastProgress } }

  /// Shortens the limit, for the tests of the watchdog.
  func shorten(to limit: Duration) { state.withLock { $0.limit = limit } }

  /// Lists a test as running while a body runs.
  func watch<Result>(
    _ test: String, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    Self.progress()
    let began = MachineTime.now
    let run = state.withLock { state in
      state.nextRun += 1
      state.running[state.nextRun] = "\(test), since \(began.inSeconds) of machine time"
      return state.nextRun
    }
    defer {
      _ = state.withLock { $0.running.removeValue(forKey: run) }
      Self.progress()
    }
    return try await body()
  }

  /// Checks for progress since the last check. The pacemaker calls this.
  func look() {
    let (count, now) = (count.load(ordering: .relaxed), MachineTime.now)
    let isWaiting = !WaitTable.shared.isEmpty
    let hung: [String]? = state.withLock { state in
      if count != state.lastCount || (state.running.isEmpty && !isWaiting) {
        (state.lastCount, state.lastProgress) = (count, now)
      }
      guard now - state.lastProgress > state.limit else { return nil }
      return state.running.sorted { $0.key < $1.key }.map(\.value)
    }
    if let hung { end(hung, at: now) }
  }

  private func end(_ running: [String], at now: Duration) -> Never {
    let children = Processes.children(of: getpid())
    let report = [
      ("Tests that run", running), ("Waits", WaitTable.shared.texts),
      ("Processes", ([getpid()] + children).map(Processes.description)),
    ].map { title, lines in "\(title):" + lines.map { "\n  \($0)" }.joined() }
    FileHandle.standardError.write(
      Data(
        """
        Nothing has made progress, at \(now.inSeconds) of machine time: the run hangs and ends here.
        \(report.joined(separator: "\n"))\n
        """.utf8))
    // If backtraces are on, the children print their stacks too.
    for child in children { Processes.kill(child, SIGABRT) }
    for _ in 0..<100 where children.contains(where: { kill($0, 0) == 0 }) { usleep(50_000) }
    for child in children { Processes.kill(child, SIGKILL) }
    TemporaryRoot.remove()
    abort()
  }
}

/// Lists a test as running, so that the watchdog can report a hang; see ``MachineTime``.
///
/// A type with `@Suite` is short, and its tests are in an extension. The compiler parses all of the
/// type again for every 25 files of the module, and with long ones a build took a tenth longer.
package struct WatchedTrait: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // Created now, so that a child of an exit test finds it.
    _ = try TemporaryRoot.path()
    let place = test.sourceLocation
    try await Places.shared.inPlace(testCase != nil) {
      try await Watchdog.shared.watch("\(test.name) at \(place.fileName):\(place.line)") {
        try await function()
      }
    }
  }
}

/// Places for the tests that run at once. Most open caches that watch their directories, which the
/// system allows a user 128 times by default: see "max_user_instances" in man 7 inotify.
private actor Places {
  static let shared = Places()
  @TaskLocal private static var hasPlace = false

  private var freeCount = 12
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Runs a body, in a place if it needs one and has none.
  nonisolated func inPlace(
    _ needsPlace: Bool, _ body: @Sendable () async throws -> Void
  ) async throws {
    guard needsPlace, !Self.hasPlace else { return try await body() }
    await take()
    do {
      try await Self.$hasPlace.withValue(true) { try await body() }
    } catch {
      await giveBack()
      throw error
    }
    await giveBack()
  }

  private func take() async {
    if freeCount > 0 {
      freeCount -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func giveBack() {
    if waiting.isEmpty { freeCount += 1 } else { waiting.removeFirst().resume() }
  }
}

extension Trait where Self == WatchedTrait {
  /// Lists a test as running, so that the watchdog can report a hang; see ``MachineTime``.
  package static var watched: WatchedTrait { WatchedTrait() }
}
