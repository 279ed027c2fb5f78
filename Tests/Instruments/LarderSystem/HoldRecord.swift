#if LARDER_SCHEDULES
  /// The place that holds the engine's lock, in the trace of a schedule.
  package enum HoldRecord {
    package static let engine = HoldRecord.self

    package struct Start {
      package init() {}
    }

    package static func note(_ start: Start, _ file: StaticString, _ line: Int) {
      Scheduler.noteHold(file, line)
    }
  }
#elseif LARDER_HOLDS
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
      package init() {}
    }

    /// The longest holds since the last look.
    package struct Longest: Sendable {
      /// The most processor time, in nanoseconds.
      package var processor: Int64 = 0
      /// The most elapsed time, in nanoseconds.
      package var elapsed: Int64 = 0
      /// The place that took the lock for the hold with the most processor time.
      package var place = ""
    }

    private let longest = Synchronization.Mutex(Longest())

    /// Records a hold that ends now.
    @usableFromInline
    package func note(_ start: Start, _ file: StaticString, _ line: Int) {
      let end = Start()
      let (processor, elapsed) = (end.processor - start.processor, end.elapsed - start.elapsed)
      longest.withLock { longest in
        longest.elapsed = max(longest.elapsed, elapsed)
        if processor <= longest.processor { return }
        longest.processor = processor
        longest.place = "\(file):\(line)"
      }
    }

    /// Returns the longest holds since the last call.
    package func take() -> Longest {
      longest.withLock { longest in
        defer { longest = Longest() }
        return longest
      }
    }

    private static func read(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      unsafe clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
  }
#endif
