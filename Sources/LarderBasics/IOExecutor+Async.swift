import LarderSystem
import Synchronization

extension IOExecutor {
  /// Runs blocking work on one of the threads while the task waits.
  ///
  /// A cancelled task leaves the queue at once. Work that has begun is not disturbed: the task
  /// waits for its end, or leaves it alone if the work only reads.
  ///
  /// - Parameters:
  ///   - replaces: Whether the work would replace a value. If such work does not begin, the error
  ///     says that an older value remains.
  ///   - reads: Whether the work only reads, so that no caller needs to know its end.
  ///   - toEnd: Whether a cancelled task waits all the same: for the end of work that has begun,
  ///     which must not be left out.
  ///   - work: A closure, or a function that gets the arguments which follow.
  /// - Throws: The error of the work; `.cancelled` when the task left.
  package func run<each Argument: Sendable, Result: Sendable>(
    _ operation: String, replaces: Bool = false, reads: Bool = false, toEnd: Bool = false,
    _ work: @escaping @Sendable (repeat each Argument) throws(CacheError) -> Result,
    _ arguments: repeat each Argument
  ) async throws(CacheError) -> Result {
    let caller = WaitingCaller<Swift.Result<Result, CacheError>>()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = caller.wait(continuation) {
          Swift.Result { () throws(CacheError) in try work(repeat each arguments) }
        }
        if isWaiting { submit { caller.runWork(mayLeave: reads) } }
      }
    } onCancel: {
      if toEnd { return }
      caller.leave(
        with: .failure(CacheError(.cancelled, operation: operation, oldValueRemains: replaces)))
    }
    return try outcome.get()
  }

  /// Runs blocking work for each element, spread over the threads.
  ///
  /// - Parameter replaces: Whether the work would replace values.
  /// - Returns: The outcomes in the order of the elements; `.cancelled` for those whose part, of up
  ///   to 128, had not begun when the task was cancelled.
  package func map<Element: Sendable, Output: Sendable>(
    _ elements: [Element], replaces: Bool = false,
    _ work: @escaping @Sendable (Element) throws(CacheError) -> Output
  ) async -> [Result<Output, CacheError>] {
    // Many elements a job: a batch of small reads would mostly switch threads.
    let pieceCount = max(1, min(threadLimit, elements.count))
    return await withTaskGroup(of: (Int, [Result<Output, CacheError>]).self) { group in
      for index in 0..<pieceCount {
        group.addTask {
          var outcomes: [Result<Output, CacheError>] = []
          let (start, end) = (elements.count * index, elements.count * (index + 1))
          var rest = elements[start / pieceCount..<end / pieceCount]
          // Other calls get a turn after each part, and a cancellation ends the rest.
          while case let part = rest.prefix(128), !part.isEmpty {
            rest = rest.dropFirst(part.count)
            do throws(CacheError) {
              outcomes += try await self.run("batch", replaces: replaces) { () throws(CacheError) in
                part.map { element in Result { () throws(CacheError) in try work(element) } }
              }
            } catch {
              outcomes += part.map { _ in .failure(error) }
            }
          }
          return (index, outcomes)
        }
      }
      var outcomes = Array(repeating: [Result<Output, CacheError>](), count: pieceCount)
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes.flatMap { $0 }
    }
  }
}

/// A task that waits for work, and is resumed once: by the work or by its cancellation. Once it is
/// resumed nothing of the work is held, such as a value that no thread was free to store.
private final class WaitingCaller<Outcome: Sendable>: Sendable {
  private typealias Waiting = (CheckedContinuation<Outcome, Never>, work: @Sendable () -> Outcome)
  private enum State {
    case coming
    case waiting(Waiting)
    /// Cancelled before it waited.
    case left(Outcome)
    case resumed
  }

  private let state = Mutex(State.coming)

  /// Waits, unless the task was cancelled before: then it is resumed, and this returns `false`.
  func wait(
    _ continuation: CheckedContinuation<Outcome, Never>, for work: @escaping @Sendable () -> Outcome
  ) -> Bool {
    let left = state.withLock { state -> Outcome? in
      if case .left(let outcome) = state { return outcome }
      state = .waiting((continuation, work))
      return nil
    }
    if let left { continuation.resume(returning: left) }
    return left == nil
  }

  /// Runs the work, unless the task was resumed, and resumes it. A task that may leave can be
  /// cancelled until the work's end, any other until it begins.
  func runWork(mayLeave: Bool) {
    guard let (continuation, work) = take(stays: mayLeave) else { return }
    let outcome = work()
    if !mayLeave || take() != nil { continuation.resume(returning: outcome) }
  }

  /// Takes over to resume the task, unless it `stays` waiting; nil if it was resumed already.
  private func take(stays: Bool = false) -> Waiting? {
    // What leaves is returned, so that it is released without the lock.
    state.withLock { state in
      guard case .waiting(let waiting) = state else { return nil }
      if !stays { state = .resumed }
      return waiting
    }
  }

  /// Resumes the task, now or as soon as it waits, unless it was resumed already.
  func leave(with outcome: Outcome) {
    let isComing = state.withLock { state in
      guard case .coming = state else { return false }
      state = .left(outcome)
      return true
    }
    if !isComing, let (continuation, _) = take() { continuation.resume(returning: outcome) }
  }
}
