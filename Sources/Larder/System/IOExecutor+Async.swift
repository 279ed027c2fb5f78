extension IOExecutor {
  /// Runs blocking work on one of the threads while the task waits.
  ///
  /// - Throws: What the work throws; `.cancelled` when the task was cancelled before the work
  ///   began. Work that has begun is not disturbed.
  func run<Result: Sendable>(
    _ operation: String, _ work: @escaping @Sendable () throws(CacheError) -> Result
  ) async throws(CacheError) -> Result {
    let isCancelled = CancellationFlag()
    let outcome: Swift.Result<Result, CacheError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit {
          guard !isCancelled.isSet else {
            return continuation.resume(
              returning: .failure(CacheError(.cancelled, operation: operation)))
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
