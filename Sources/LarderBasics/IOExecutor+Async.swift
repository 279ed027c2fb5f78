import LarderSystem
import Synchronization

extension IOExecutor {
  /// Runs blocking work on one of the threads while the task waits.
  ///
  /// - Parameter replaces: Whether the work would replace a value. If such work does not begin, the
  ///   error says that an older value remains.
  /// - Throws: The error of the work; `.cancelled` when the task was cancelled before the work
  ///   began. Work that has begun is not disturbed.
  package func run<Result: Sendable>(
    _ operation: String, replaces: Bool = false,
    _ work: @escaping @Sendable () throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    // Only the job resumes the continuation, when its turn comes. Resuming it at once on
    // cancellation would need a lock to decide which comes first, and would only save the wait in
    // the queue.
    let isCancelled = CancellationFlag()
    let outcome: Swift.Result<Result, CacheError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit {
          guard !isCancelled.isSet else {
            return continuation.resume(
              returning: .failure(
                CacheError(.cancelled, operation: operation, oldValueRemains: replaces)))
          }
          continuation.resume(returning: Swift.Result(catching: work))
        }
      }
    } onCancel: {
      isCancelled.set()
    }
    return try outcome.get()
  }

  /// Runs blocking work on one of the threads while the task waits, also in a cancelled task.
  ///
  /// For the end of work that has begun, which must not be left out.
  package func runToEnd<Result: Sendable>(
    _ work: @escaping @Sendable () throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    let outcome: Swift.Result<Result, CacheError> = await withCheckedContinuation { continuation in
      submit { continuation.resume(returning: Swift.Result(catching: work)) }
    }
    return try outcome.get()
  }
}

extension IOExecutor {
  /// Runs blocking work for each element, spread over the threads.
  ///
  /// - Parameter replaces: Whether the work would replace values.
  /// - Returns: The outcomes in the order of the elements; `.cancelled` for elements whose work had
  ///   not begun when the task was cancelled.
  package func map<Element: Sendable, Output: Sendable>(
    _ elements: [Element], replaces: Bool = false,
    _ work: @escaping @Sendable (Element) throws(CacheError) -> Output
  ) async -> [Result<Output, CacheError>] {
    // One job per thread and not one per element, because a batch of small reads would mostly
    // switch threads.
    let pieceCount = max(1, min(threadLimit, elements.count))
    let pieces = (0..<pieceCount).map { piece in
      elements.count * piece / pieceCount..<elements.count * (piece + 1) / pieceCount
    }
    return await withTaskGroup(of: (Int, [Result<Output, CacheError>]).self) { group in
      for (index, piece) in pieces.enumerated() {
        group.addTask { (index, await self.outcomes(of: elements[piece], replaces, work)) }
      }
      var outcomes = Array(repeating: [Result<Output, CacheError>](), count: pieceCount)
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes.flatMap { $0 }
    }
  }

  private func outcomes<Element: Sendable, Output: Sendable>(
    of elements: ArraySlice<Element>, _ replaces: Bool,
    _ work: @escaping @Sendable (Element) throws(CacheError) -> Output
  ) async -> [Result<Output, CacheError>] {
    do throws(CacheError) {
      return try await run("batch", replaces: replaces) { () throws(CacheError) in
        elements.map { element in Result { () throws(CacheError) in try work(element) } }
      }
    } catch {
      // Only cancellation gets here; a piece that did not begin has this error for each element.
      return elements.map { _ in .failure(error) }
    }
  }
}

/// A flag that cancels work which has not begun.
private final class CancellationFlag: Sendable {
  // Relaxed is enough, because the flag guards no other memory, and work that just misses it may
  // run.
  private let flag = Atomic<Bool>(false)

  /// Whether `set()` was called, by any thread.
  var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Cancels the work. It cannot be undone.
  func set() {
    flag.store(true, ordering: .relaxed)
  }
}
