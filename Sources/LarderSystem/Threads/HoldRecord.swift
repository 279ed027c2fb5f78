#if LARDER_HOLDS
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #else
    import Musl
  #endif

  /// The longest time that a lock was held at once. Only in builds for `LarderBench holds`, so that
  /// other builds have no instruction of it.
  ///
  /// Measured by the holder's processor time, because on a busy machine the elapsed time includes
  /// the work of other programs, and by the elapsed time as well, which shows a holder that waits.
  @usableFromInline
  package final class HoldRecord: Sendable {
    /// The lock of the disk tier.
    package static let engine = HoldRecord()
    /// The locks of the memory tier's stripes. Measured from outside, so the elapsed time includes
    /// the wait for the lock.
    @usableFromInline
    package static let memory = HoldRecord()

    /// The start of a hold by both clocks, in nanoseconds.
    @usableFromInline
    package struct Start {
      fileprivate let processor = HoldRecord.read(CLOCK_THREAD_CPUTIME_ID)
      fileprivate let elapsed = HoldRecord.read(CLOCK_MONOTONIC)

      @usableFromInline
      init() {}
    }

    private let processor = Atomic<Int64>(0)
    private let elapsed = Atomic<Int64>(0)

    /// Records a hold that ends now.
    @usableFromInline
    func note(_ start: Start) {
      let end = Start()
      processor.max(end.processor - start.processor, ordering: .relaxed)
      elapsed.max(end.elapsed - start.elapsed, ordering: .relaxed)
    }

    /// Returns the longest hold since the last call, in nanoseconds by both clocks.
    package func take() -> (processor: Int64, elapsed: Int64) {
      (processor.exchange(0, ordering: .relaxed), elapsed.exchange(0, ordering: .relaxed))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      unsafe clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
  }
#endif
