#if LARDER_SCHEDULES
  import Glibc

  @testable import LarderDisk
  @testable import LarderSystem

  /// A count of what has run side by side, which the explorers of one run share.
  ///
  /// Two operations of different threads count as a pair when both had begun and neither had
  /// returned, on one name or without one. Of each schedule three things are counted:
  ///
  /// 1. each pair with each setting,
  /// 2. each three operations of three threads,
  /// 3. each pair with each two settings.
  final class PairTable {
    private let cells: UnsafeMutablePointer<UInt8>
    /// The scene that was noted last, with the settings of each two of its threads.
    private var last: (scene: Scene, facts: SceneFacts)?

    private static let moveCount = Move.all.count
    static let pairCount = moveCount * (moveCount + 1) / 2
    /// The pairs with a setting come first, then three operations, then pairs with two settings.
    static let firstThree = pairCount * Setting.count
    static let firstDouble = firstThree + moveCount * (moveCount + 1) * (moveCount + 2) / 6
    static let cellCount = firstDouble + pairCount * Setting.count * (Setting.count - 1) / 2

    /// The meetings of two threads come last.
    private static let byteCount = cellCount + Scheduler.meetingCount

    /// Opens the table in a file, which other processes may share, or makes one of its own.
    init(path: String?) {
      let file = path.map { unsafe open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) } ?? -1
      if file >= 0 { ftruncate(file, Self.byteCount) }
      let flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS
      let start = unsafe mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, flags, file, 0)
      guard let start = unsafe start, unsafe start != MAP_FAILED else {
        fatalError("no memory for the table of pairs")
      }
      if file >= 0 { close(file) }
      cells = unsafe start.assumingMemoryBound(to: UInt8.self)
    }

    subscript(cell: Int) -> UInt8 { unsafe cells[cell] }

    /// The number of pairs with a setting that were counted for the first time by this process.
    private(set) var newPairCount = 0

    private func count(_ cell: Int) {
      if cell < Self.firstThree, unsafe cells[cell] == 0 { newPairCount += 1 }
      if unsafe cells[cell] < .max { unsafe cells[cell] += 1 }
    }

    /// Counts the meetings of a trial, and returns those that were the first of their kind.
    func note(_ meetings: [Int]) -> [Int] {
      meetings.filter { meeting in
        let cell = Self.cellCount + meeting
        defer { if unsafe cells[cell] < .max { unsafe cells[cell] += 1 } }
        return unsafe cells[cell] == 0
      }
    }

    static func pair(_ first: Int, _ second: Int) -> Int {
      let (low, high) = (min(first, second), max(first, second))
      return high * (high + 1) / 2 + low
    }

    static func cell(_ pair: Int, _ setting: Setting) -> Int {
      pair * Setting.count + setting.rawValue
    }

    static func three(_ first: Int, _ second: Int, _ third: Int) -> Int {
      let sorted = [first, second, third].sorted()
      let high = sorted[2]
      return firstThree + high * (high + 1) * (high + 2) / 6 + pair(sorted[0], sorted[1])
    }

    static func double(_ pair: Int, _ first: Setting, _ second: Setting) -> Int {
      let (low, high) = (first.rawValue, second.rawValue)
      return firstDouble + pair * Setting.count * (Setting.count - 1) / 2
        + high * (high - 1) / 2 + low
    }
  }

  /// What a scene has: the moves of each thread, and the settings of each two threads.
  struct SceneFacts {
    /// For each thread its operations; none for what runs before all others.
    var moves: [[(move: Int, name: Character?)]]
    private let settings: [[Setting]]
    private let count: Int

    init(_ scene: Scene) {
      let threads = scene.threads
      let count = threads.count
      moves = threads.map { thread in
        if thread.isFirst { return [] }
        return thread.operations.map {
          (Move.number(of: $0, isOwn: thread.cache != nil) ?? -1, $0.name)
        }
      }
      settings = (0..<count * count).map { index in
        let (first, second) = (index / count, index % count)
        let isPair = first < second && !threads[first].isFirst && !threads[second].isFirst
        return isPair ? scene.settings(of: first, second) : []
      }
      self.count = count
    }

    /// - Precondition: The first number is the smaller one.
    func settings(of first: Int, _ second: Int) -> [Setting] { settings[first * count + second] }

    static func areOfOneName(_ first: Character?, _ second: Character?) -> Bool {
      first == nil || second == nil || first == second
    }

    /// Calls a closure with all cells that a scene can fill: those of pairs with a setting, of
    /// three operations, and of pairs with two settings.
    func forEachCell(_ body: (Int) -> Void) {
      for first in 0..<count {
        for second in first + 1..<max(count, first + 1) {
          for one in moves[first] where one.move >= 0 {
            for other in moves[second]
            where other.move >= 0 && Self.areOfOneName(one.name, other.name) {
              forEachCell(of: (first, second), PairTable.pair(one.move, other.move), body)
              for third in second + 1..<max(count, second + 1) {
                for last in moves[third] where last.move >= 0 {
                  body(PairTable.three(one.move, other.move, last.move))
                }
              }
            }
          }
        }
      }
    }

    func forEachCell(of threads: (Int, Int), _ pair: Int, _ body: (Int) -> Void) {
      let settings = settings(of: threads.0, threads.1)
      for (index, setting) in settings.enumerated() {
        body(PairTable.cell(pair, setting))
        for lower in settings[..<index] { body(PairTable.double(pair, lower, setting)) }
      }
    }
  }

  extension PairTable {
    /// Counts what ran side by side in a schedule.
    func note(_ scene: Scene, _ calls: [Call]) {
      if last?.scene != scene { last = (scene, SceneFacts(scene)) }
      guard let facts = last?.facts else { return }
      let parts = calls.compactMap { call -> (thread: Int, move: Int, call: Call)? in
        guard let thread = Int(call.thread.dropFirst()), !facts.moves[thread].isEmpty,
          let move = Move.number(of: call.operation, isOwn: call.cache != nil)
        else { return nil }
        return (thread, move, call)
      }.sorted { $0.thread < $1.thread }
      for (index, one) in parts.enumerated() {
        let others = parts[index...].filter {
          $0.thread != one.thread && Self.areBeside(one.call, $0.call)
        }
        for (next, other) in others.enumerated() {
          let pair = Self.pair(one.move, other.move)
          facts.forEachCell(of: (one.thread, other.thread), pair, count)
          for third in others[next...]
          where third.thread != other.thread && Self.areBeside(other.call, third.call) {
            count(Self.three(one.move, other.move, third.move))
          }
        }
      }
    }

    /// Whether there was a moment at which two calls had begun and not returned, and they may
    /// concern one name.
    private static func areBeside(_ first: Call, _ second: Call) -> Bool {
      first.start < second.end && second.start < first.end
        && SceneFacts.areOfOneName(first.operation.name, second.operation.name)
    }
  }
#endif
