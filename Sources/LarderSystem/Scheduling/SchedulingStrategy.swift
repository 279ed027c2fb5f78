#if LARDER_SCHEDULES
  /// A strategy that chooses the next thread to run.
  package protocol SchedulingStrategy: Sendable {
    /// Chooses one of the threads that can run.
    ///
    /// - Parameters:
    ///   - runnable: The threads that can run, a bit for each by its number; at least one is set.
    ///   - current: The thread that ran last; nil if it cannot go on.
    mutating func choose(among runnable: UInt64, current: Int?) -> Int

    /// Whether the earliest deadline comes now, although threads could run.
    mutating func comesEarly() -> Bool
  }

  /// The next action of a thread at a point.
  package enum SchedulePoint: Sendable {
    case lock
    case load
    case change
    case signal
    case look
    case call(SystemCall)

    var text: String {
      switch self {
      case .lock: "lock"
      case .load: "load"
      case .change: "change"
      case .signal: "signal"
      case .look: "look"
      case .call(let call): call.rawValue
      }
    }

    var code: UInt64 {
      switch self {
      case .lock: 1
      case .load: 2
      case .change: 3
      case .signal: 4
      case .look: 5
      case .call(let call): call.rawValue.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) }
      }
    }
  }
#endif
