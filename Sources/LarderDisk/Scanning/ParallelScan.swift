import LarderBasics
import LarderSystem
import Synchronization

/// A scan of which a helper thread does a part while the caller merges the pieces that are ready.
///
/// The names are read by one thread at a time, because the kernel keeps the position. Both threads
/// read status, which takes four fifths of a scan; the caller merges as well. So on two processors
/// a scan takes less time than the system calls alone take on one.
///
/// While callers read and store, the helper rests, because a store waits for up to 4 ms for a
/// directory that two other threads look into. The pieces are small then.
///
/// The caller never waits for a helper that has not begun. If the helper is late, or the system has
/// no thread left, the caller does it all. Pieces can come in another order than their names, which
/// has no meaning anyway.
package final class ParallelScan: Sendable {
  fileprivate typealias Outcome = Result<DirectoryScan.Piece, Errno>

  fileprivate struct State: ~Copyable {
    var scan: DirectoryScan
    /// The pieces that the helper has looked at.
    var ready: [Outcome] = []
    /// Whether a helper was asked for and has not ended.
    var isHelped = false
    /// Whether the helper is looking at names.
    var isHelperBusy = false
    /// Whether the helper rests.
    var isAlone = false
    /// Whether there are no more names, or the caller wants none.
    var isOver = false
  }

  /// The next step of the caller.
  fileprivate enum Step: Sendable {
    case merge(Outcome)
    case look(DirectoryScan.Names)
    case wait
    case end
  }

  private let look: DirectoryScan.Look
  private let state: ForkSafeMutex<State>
  private let changed = EventCount()

  /// The largest number of pieces that wait to be merged. The helper ends when it is reached.
  fileprivate static let readyLimit = 4

  init(_ scan: consuming sending DirectoryScan) {
    look = scan.look
    state = ForkSafeMutex(State(scan: scan))
  }

  /// Returns the next piece; nil if there is none left.
  ///
  /// - Parameter isAlone: Whether the helper rests from now on, and pieces are small.
  /// - Throws: The error of `readdir` or `fstatat`. The pieces before it stand; the scan is over.
  func next(alone isAlone: Bool = false) throws(Errno) -> DirectoryScan.Piece? {
    while true {
      let ticket = changed.ticket()
      let (step, needsHelp) = try state.withLock { (state) throws(Errno) in
        state.isAlone = isAlone
        let step = try state.step()
        return (step, state.needsHelp())
      }
      // Weak, so that a helper that starts late does not keep the directory open until then.
      if needsHelp { IOExecutor.upkeep.submit { [weak self] in self?.help() } }
      switch step {
      case .merge(let outcome): return try outcome.get()
      case .look(let names): return try look.piece(of: names)
      case .wait: changed.wait(ticket)
      case .end: return nil
      }
    }
  }

  /// Ends the scan and waits until the helper looks at no piece.
  func end() {
    while true {
      let ticket = changed.ticket()
      let isBusy = state.withLock { state in
        state.isOver = true
        return state.isHelperBusy
      }
      if !isBusy { return }
      changed.wait(ticket)
    }
  }

  /// Looks at names as the helper, until there are none or enough pieces wait.
  private func help() {
    while let names = state.withLock({ $0.namesForHelper() }) {
      let outcome: Outcome
      do throws(Errno) {
        outcome = .success(try look.piece(of: names.get()))
      } catch {
        outcome = .failure(error)
      }
      state.withLock { $0.add(outcome) }
      changed.signal()
    }
  }
}

extension ParallelScan.State {
  fileprivate mutating func step() throws(Errno) -> ParallelScan.Step {
    if !ready.isEmpty { return .merge(ready.removeFirst()) }
    if !isOver { return .look(try nextNames().get()) }
    return isHelperBusy ? .wait : .end
  }

  /// Returns whether the caller has to ask for a helper, which counts as asked for from then on.
  fileprivate mutating func needsHelp() -> Bool {
    guard !isOver, !isHelped, !isAlone else { return false }
    isHelped = true
    return true
  }

  /// Returns the next names, or the error of reading them; nil if the helper has to end.
  fileprivate mutating func namesForHelper() -> Result<DirectoryScan.Names, Errno>? {
    guard !isOver, !isAlone, ready.count < ParallelScan.readyLimit else {
      isHelped = false
      return nil
    }
    isHelperBusy = true
    return nextNames()
  }

  fileprivate mutating func add(_ outcome: ParallelScan.Outcome) {
    ready.append(outcome)
    isHelperBusy = false
  }

  private mutating func nextNames() -> Result<DirectoryScan.Names, Errno> {
    do throws(Errno) {
      let names = try scan.nextNames(
        atMost: isAlone ? DirectoryScan.smallPieceCount : DirectoryScan.pieceCount)
      isOver = names.isLast
      return .success(names)
    } catch {
      isOver = true
      return .failure(error)
    }
  }
}
