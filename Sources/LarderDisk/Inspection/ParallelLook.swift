import LarderBasics
import LarderSystem
import Synchronization

/// A listener for the progress of a walk. While names are read, `done` is the number found and
/// `total` is nil; afterwards `done` is the number of files inspected. Called by several threads,
/// so that a smaller number can come after a larger one.
package typealias WalkProgress = @Sendable (_ done: Int, _ total: Int?) -> Void

/// A look at an entry, with the comparison of its content with its hash.
struct CheckedLook: Sendable {
  let entry: DiskEngine.EntryLook
  /// Nil if the content was not to be checked.
  let finding: Verification.Finding?
}

extension DiskEngine {
  /// Looks at the files of names, and calls a function for each in their order.
  ///
  /// Beyond two pieces of names, a helper thread takes pieces that the caller has not begun.
  ///
  /// - Parameters:
  ///   - isChecking: Whether the contents are read and compared with their hashes.
  ///   - progress: Is told of each look when it is done, which is before `body` gets it.
  ///   - body: Gets the name, the look, and the number of names that are done.
  func forEachLook(
    at names: [EntryName], isChecking: Bool, reporting progress: WalkProgress? = nil,
    _ body: (EntryName, CheckedLook, _ done: Int) throws(CacheError) -> Void
  ) throws(CacheError) {
    let looks = ParallelLook(self, names, isChecking: isChecking, progress)
    defer { looks.end() }
    var done = 0
    while let piece = try looks.next() {
      for look in piece {
        done += 1
        try body(names[done - 1], look, done)
      }
    }
  }
}

/// The looks at many files, in pieces of which a helper thread takes a part.
///
/// The caller never waits for a helper that has not begun, as in `ParallelScan`.
private final class ParallelLook: Sendable {
  typealias Outcome = Result<[CheckedLook], CacheError>

  private struct State {
    /// The piece that is begun next.
    var next = 0
    /// The piece that the caller gets next.
    var due = 0
    /// The pieces that are done and that the caller has not got.
    var done: [Int: Outcome] = [:]
    var isHelped = false
    var isHelperBusy = false
  }

  private enum Step: Sendable {
    case give(Outcome)
    case look(piece: Int)
    case wait
    case end
  }

  private static let pieceCount = 512
  /// The largest number of pieces that wait for the caller, so that memory does not grow.
  private static let lead = 8

  private let engine: DiskEngine
  private let names: [EntryName]
  private let isChecking: Bool
  private let progress: WalkProgress?
  /// The looks so far, also those of pieces that are not done.
  private let lookCount = Atomic<Int>(0)
  private let state = ForkSafeMutex(State())
  private let changed = EventCount()

  private var pieces: Int { (names.count + Self.pieceCount - 1) / Self.pieceCount }

  init(
    _ engine: DiskEngine, _ names: [EntryName], isChecking: Bool, _ progress: WalkProgress?
  ) {
    self.engine = engine
    self.names = names
    self.isChecking = isChecking
    self.progress = progress
  }

  /// Returns the looks at the next names; nil if there are none left.
  func next() throws(CacheError) -> [CheckedLook]? {
    while true {
      let ticket = changed.ticket()
      let (step, needsHelp) = state.withLock { state in
        let needsHelp = !state.isHelped && pieces > 2 && state.next < pieces
        if needsHelp { state.isHelped = true }
        return (Self.step(&state, of: pieces), needsHelp)
      }
      if needsHelp { IOExecutor.upkeep.submit { [weak self] in self?.help() } }
      switch step {
      case .give(let outcome): return try outcome.get()
      case .look(let piece): finish(piece, look(at: piece))
      case .wait: changed.wait(ticket)
      case .end: return nil
      }
    }
  }

  private static func step(_ state: inout State, of pieces: Int) -> Step {
    if let outcome = state.done.removeValue(forKey: state.due) {
      state.due += 1
      return .give(outcome)
    }
    if state.due == pieces { return .end }
    // The piece that is due comes before any other that could be begun.
    guard state.next == state.due || state.next < pieces && state.done.count < lead else {
      return .wait
    }
    state.next += 1
    return .look(piece: state.next - 1)
  }

  /// Looks at pieces as the helper, until there are none left or enough of them wait.
  private func help() {
    while let piece = pieceForHelper() {
      finish(piece, look(at: piece), asHelper: true)
    }
  }

  private func pieceForHelper() -> Int? {
    state.withLock { state in
      guard state.next < pieces, state.done.count < Self.lead else {
        state.isHelped = false
        return nil
      }
      state.isHelperBusy = true
      state.next += 1
      return state.next - 1
    }
  }

  private func look(at piece: Int) -> Outcome {
    let first = piece * Self.pieceCount
    do throws(CacheError) {
      var looks: [CheckedLook] = []
      looks.reserveCapacity(Self.pieceCount)
      for name in names[first..<min(first + Self.pieceCount, names.count)] {
        looks.append(
          isChecking
            ? try engine.lookAndCheck(name)
            : CheckedLook(entry: try engine.look(at: name), finding: nil))
        // Each look by itself, because a piece of them can take a minute on a slow disk.
        let count = lookCount.wrappingAdd(1, ordering: .relaxed).newValue
        progress?(count, names.count)
      }
      return .success(looks)
    } catch {
      return .failure(error)
    }
  }

  private func finish(_ piece: Int, _ outcome: Outcome, asHelper: Bool = false) {
    state.withLock { state in
      state.done[piece] = outcome
      if asHelper { state.isHelperBusy = false }
    }
    changed.signal()
  }

  /// Begins no further piece, and waits until the helper looks at none.
  func end() {
    while true {
      let ticket = changed.ticket()
      let isBusy = state.withLock { state in
        state.next = pieces
        return state.isHelperBusy
      }
      if !isBusy { return }
      changed.wait(ticket)
    }
  }
}
