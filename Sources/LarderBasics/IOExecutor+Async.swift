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
