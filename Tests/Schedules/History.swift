#if LARDER_SCHEDULES
  import Synchronization

  @testable import Larder
  @testable import LarderDigest
  @testable import LarderDisk
  @testable import LarderSystem

  /// A call and its outcome.
  struct Call: Sendable {
    /// The outcome of a call.
    enum Result: Sendable, Hashable {
      /// The call has not returned.
      case none
      case stored
      case pending
      case rejected(String)
      case found(Int)
      case missed
      case removed(Bool)
      case done
      case number(Int)
      /// The names of the files that a list of all entries holds.
      case listed(Set<String>)
      case failed(String, remains: Bool)
    }

    let operation: Scene.Operation
    let thread: String
    /// The calling process; -1 for a call from outside.
    let process: Int
    let cache: Int?
    /// The number of the value that is stored or loaded.
    let value: Int
    let start: Int
    let startTime: Int64
    var end = Int.max
    var endTime = Int64.max
    var result = Result.none
    /// The moment at which the closure of a load began to run.
    var loadStart: Int?
    /// The number of times that the closure of a load ran.
    var loadCount = 0
    /// The runs of a load's closure.
    var loads: [LoadSpan] = []
    /// Whether a load of the cache began to wait for another process's during the call.
    var hasWaited = false
    /// Whether one began although another process might run one.
    var isAlone = false
    /// Whether the closure of a load was not cancelled for some time after its caller was.
    var outlivesCaller = false

    var text: String {
      let span = end == .max ? "\(start)–" : "\(start)–\(end)"
      let stored = value > 0 ? " value \(value)" : ""
      return "\(span) \(thread): \(operation.text)\(stored) → \(result)\(turnText)"
    }

    private var turnText: String {
      (hasWaited ? ", waited for a turn" : "")
        + loads.map { ", loaded \($0.start)–\($0.end)\($0.isAlone ? " alone" : "")" }.joined()
    }
  }

  /// A run of a load's closure.
  struct LoadSpan: Sendable {
    let start: Int
    var end = Int.max
    let startTime: Int64
    var endTime = Int64.max
    /// Whether its cache has counted that it might run beside another process's.
    let isAlone: Bool
  }

  /// The events of a schedule, in one order.
  final class History: Sendable {
    private struct State {
      var calls: [Call] = []
      var clock = 0
      var problems: [String] = []
      var lossy: Set<Int> = []
      /// The numbers of the calls with which a round with caches of its own began.
      var rounds: [Int] = []
    }

    private let state: Synchronization.Mutex<State>

    init() { state = Synchronization.Mutex(State()) }

    private init(_ state: State) { self.state = Synchronization.Mutex(state) }

    /// Records that what follows has nothing to do with what was.
    func beginRound() { state.withLock { $0.rounds.append($0.calls.count) } }

    /// A call by its number.
    func call(_ number: Int) -> Call { state.withLock { $0.calls[number] } }

    /// The calls of each round that has caches of its own, as histories.
    var rounds: [History] {
      let state = state.withLock { $0 }
      if state.rounds.isEmpty { return [self] }
      let ends = state.rounds + [state.calls.count]
      return zip([0] + state.rounds, ends).map { start, end in
        var part = state
        part.calls = Array(state.calls[start..<end])
        part.rounds = []
        return History(part)
      }
    }

    /// The calls, of the last round alone if each has caches of its own.
    var calls: [Call] {
      state.withLock { state in
        guard let start = state.rounds.last else { return state.calls }
        return Array(state.calls[start...])
      }
    }

    var problems: [String] { state.withLock { $0.problems } }

    /// The processes whose flush or end has told of a value that could not be written.
    var lossy: Set<Int> { state.withLock { $0.lossy } }

    /// Records that a flush, or the end of a cache, of a process has failed.
    func noteLoss(_ process: Int) { _ = state.withLock { $0.lossy.insert(process) } }

    /// Records a problem.
    func report(_ problem: String) { state.withLock { $0.problems.append(problem) } }

    /// Records that a call begins, and returns its number.
    func begin(
      _ operation: Scene.Operation, thread: String, process: Int, cache: Int?, value: Int = 0
    ) -> Int {
      let time = Scheduler.now
      Scheduler.noteProgress()
      Scheduler.note("begins \(operation.text)")
      return state.withLock { state in
        state.clock += 1
        state.calls.append(
          Call(
            operation: operation, thread: thread, process: process, cache: cache, value: value,
            start: state.clock, startTime: time))
        return state.calls.count - 1
      }
    }

    /// Records that the closure of a load begins to run.
    ///
    /// - Parameter isAgain: Whether a load whose key was changed begins anew, so that its last run
    ///   counts.
    func noteLoad(of number: Int, isAgain: Bool = false, isAlone: Bool) {
      let time = Scheduler.now
      state.withLock { state in
        state.clock += 1
        state.calls[number].loads.append(
          LoadSpan(start: state.clock, startTime: time, isAlone: isAlone))
        let known = isAgain ? nil : state.calls[number].loadStart
        state.calls[number].loadStart = known ?? state.clock
        state.calls[number].loadCount += 1
      }
    }

    /// Records that the last run of a load's closure ends.
    func noteLoadEnd(of number: Int) {
      let time = Scheduler.now
      state.withLock { state in
        state.clock += 1
        guard let last = state.calls[number].loads.indices.last else { return }
        state.calls[number].loads[last].end = state.clock
        state.calls[number].loads[last].endTime = time
      }
    }

    /// Records what a cache has counted during a call.
    func noteTurns(of number: Int, hasWaited: Bool, isAlone: Bool) {
      state.withLock { state in
        state.calls[number].hasWaited = hasWaited
        state.calls[number].isAlone = isAlone
      }
    }

    /// Records that the closure of a load has waited in vain for its cancellation.
    func noteOutliving(_ number: Int) { state.withLock { $0.calls[number].outlivesCaller = true } }

    /// Records that a call has returned.
    func end(_ number: Int, _ result: Call.Result) {
      state.withLock { state in
        state.clock += 1
        state.calls[number].end = state.clock
        state.calls[number].endTime = Scheduler.now
        state.calls[number].result = result
      }
      Scheduler.endOperation()
      Scheduler.note("returns \(result)")
    }

    /// Records the result of a look at the end of a call.
    func look(
      since number: Int, _ operation: Scene.Operation, _ result: Call.Result
    ) {
      state.withLock { state in
        let call = state.calls[number]
        state.clock += 1
        state.calls.append(
          Call(
            operation: operation, thread: "\(call.thread)'s file", process: call.process,
            cache: call.cache,
            value: 0, start: call.start, startTime: call.startTime, end: state.clock,
            result: result))
      }
    }

    /// Returns the position of the first beginning or end of a call or a load at a time or later.
    func firstPosition(since time: Int64) -> Int {
      state.withLock { state in
        let positions = state.calls.flatMap { call in
          [(call.start, call.startTime), (call.end, call.endTime)]
            + call.loads.flatMap { [($0.start, $0.startTime), ($0.end, $0.endTime)] }
        }
        return positions.reduce(state.clock + 1) { $1.1 >= time ? min($0, $1.0) : $0 }
      }
    }
  }

  /// The choices that a strategy with given interruptions had.
  enum ChoiceLog {
    struct Choice: Sendable {
      let runnable: UInt64
      let current: Int?
      let chosen: Int
    }

    private static let choices = Synchronization.Mutex<[Choice]>([])

    static func add(_ choice: Choice) { choices.withLock { $0.append(choice) } }

    static func take() -> [Choice] {
      choices.withLock { choices in
        defer { choices.removeAll(keepingCapacity: true) }
        return choices
      }
    }
  }
#endif
