import LarderSystem

extension IOExecutor {
  /// Runs blocking work on one of the threads while the task waits.
  ///
  /// - Parameter replaces: Whether the work would have replaced a value, so that an older one is
  ///   still there where it did not begin.
  /// - Throws: What the work throws; `.cancelled` when the task was cancelled before the work
  ///   began. Work that has begun is not disturbed.
  package func run<Result: Sendable>(
    _ operation: String, replaces: Bool = false,
    _ work: @escaping @Sendable () throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    // The continuation is resumed by the job alone, on its turn. Resuming it at once on
    // cancellation would need a lock around who is first, to save a wait that is no longer than the
    // queue.
    let isCancelled = CancellationFlag()
    let outcome: Swift.Result<Result, CacheError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit {
          guard !isCancelled.isSet else {
            return continuation.resume(
              returning: .failure(
                CacheError(.cancelled, operation: operation, oldValueRemains: replaces)))
          }
          do throws(CacheError) {
            continuation.resume(returning: .success(try work()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
    } onCancel: {
      isCancelled.set()
    }
    return try outcome.get()
  }
}

extension IOExecutor {
  /// Runs blocking work for each element, spread over the threads.
  ///
  /// - Parameter replaces: Whether the work would have replaced values.
  /// - Returns: The outcomes in the order of the elements; `.cancelled` for those that the
  ///   cancellation of the task was quicker than.
  package func map<Element: Sendable, Output: Sendable>(
    _ elements: [Element], replaces: Bool = false,
    _ work: @escaping @Sendable (Element) throws(CacheError) -> Output
  ) async -> [Result<Output, CacheError>] {
    // One job per thread and not one per element, so that a batch of small reads is not mostly
    // hops.
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
        elements.map { element in
          do throws(CacheError) {
            return .success(try work(element))
          } catch {
            return .failure(error)
          }
        }
      }
    } catch {
      // Only cancellation gets here: a piece that did not start has no outcome of its own.
      return elements.map { _ in .failure(error) }
    }
  }
}
