package import LarderBasics
package import LarderSystem

extension DiskEngine {
  /// Runs what a caller asked for, and counts the error that the caller gets.
  ///
  /// At the face and not where errors arise, since inside one may be tried again or shrugged off.
  package func countingErrors<Result>(
    _ body: () throws(CacheError) -> Result
  ) throws(CacheError) -> Result {
    do throws(CacheError) {
      return try body()
    } catch {
      throw counted(error)
    }
  }

  /// Finds, checks and reads an entry, and counts it as used, or the error that the caller gets.
  package func read(
    _ subject: Subject, for purpose: ReadPurpose, extending: ExpirationExtending,
    staleness: Duration = .zero
  ) throws(CacheError) -> Found? {
    do throws(CacheError) {
      return try find(subject, for: purpose, extending: extending, staleness: staleness)
    } catch {
      throw counted(error)
    }
  }

  /// Evicts by a plan of the caller's, and counts the error that the caller gets.
  package func countingTrim(
    _ operation: String, _ makePlan: (Timestamp) -> TrimPlan
  ) throws(CacheError) -> BulkRemoval {
    try countingErrors { () throws(CacheError) in try trim(operation, makePlan) }
  }

  /// Counts an error with a number of the system's, and returns it.
  private func counted(_ error: CacheError) -> CacheError {
    if let errno = error.errno { withState { $0.counters.countError(errno) } }
    return error
  }
}
