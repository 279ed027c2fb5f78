import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// The turns of a process, tested without locks and tasks. A waiting load is a number.
struct `The turns of loads` {
  private var table = TurnTable<Int>()
  private let now = MonotonicTime(nanoseconds: 1_000_000_000)

  /// Lets a load wait that has just asked.
  private func wait(_ table: inout TurnTable<Int>, for byte: UInt64, _ load: Int) -> Bool {
    table.wait(for: byte, since: table.wakeCount(of: byte), load)
  }

  /// Takes a turn that the kernel grants.
  private func take(_ table: inout TurnTable<Int>, _ byte: UInt64) {
    let answer = table.claim(byte)
    let woken = table.settle(byte, .granted)
    #expect(answer == .granted && woken == [])
  }

  @Test func `a byte has one turn, and other bytes do not wait for it`() {
    var table = table
    let answers = [2, 2, 4].map { table.claim($0) }
    #expect(answers == [.granted, .refused, .granted])
  }

  @Test func `a byte that the kernel refuses is asked for again`() {
    var table = table
    _ = table.claim(2)
    _ = table.settle(2, .refused)
    let answer = table.claim(2)
    #expect(answer == .granted)
  }

  @Test func `the end of a turn wakes those who wait for its byte alone`() {
    var table = table
    take(&table, 2)
    let areWaiting = [(2, 1), (2, 2), (4, 3)].map { wait(&table, for: $0.0, $0.1) }
    #expect(areWaiting == [true, true, true] && table.isAwaited)
    let woken = table.end(2, isMarked: false)
    #expect(woken == [1, 2])
    let answer = table.claim(2)
    #expect(answer == .granted)
    let others = table.wake(nil)
    #expect(others == [3] && !table.isAwaited)
  }

  @Test func `a wake between the question and the wait is not lost`() {
    var table = table
    let count = table.wakeCount(of: 2)
    _ = table.wake(2)
    let isWaiting = table.wait(for: 2, since: count, 1)
    #expect(!isWaiting && !table.isAwaited)
  }

  @Test func `who was refused because another load asked does not wait for one that goes alone`() {
    var table = table
    _ = table.claim(2)
    _ = wait(&table, for: 2, 1)
    let woken = table.settle(2, .alone)
    #expect(woken == [1])
  }

  @Test func `two loads that the kernel refuses do not wake each other for ever`() {
    var table = table
    _ = wait(&table, for: 2, 1)
    _ = table.claim(2)
    let woken = table.settle(2, .refused)
    #expect(woken == [] && table.isAwaited)
  }

  @Test func `a marked byte is loaded by all at once until the mark ends`() {
    var table = table
    take(&table, 2)
    _ = table.end(2, isMarked: true)
    #expect(table.claim(2) == .alone)
    table.marked.remove(2)
    #expect(table.claim(2) == .granted)
  }

  @Test func `a process takes 128 turns at most, and leaves 64 marks`() {
    var table = table
    for number in 0..<128 { take(&table, UInt64(2 * number)) }
    #expect(table.claim(1000) == .alone && table.claim(2) == .refused)
    for number in 0..<64 {
      #expect(table.mayMark)
      _ = table.end(UInt64(2 * number), isMarked: true)
    }
    #expect(!table.mayMark)
    // Marks take no turns away from loads that publish.
    #expect(table.claim(1000) == .granted)
  }

  /// Whether a load may wait, for ten seconds at most.
  private func mayWait(
    _ table: inout TurnTable<Int>, for byte: UInt64, isPolled: Bool = false, at seconds: Int = 0
  ) -> Bool {
    let time = now.advanced(by: .seconds(seconds))
    return table.mayWait(for: byte, isPolled, time, atMost: .seconds(10))
  }

  @Test func `without events 64 bytes are waited for at most`() {
    var table = table
    for number in 0..<64 {
      let may = mayWait(&table, for: UInt64(2 * number), isPolled: true)
      #expect(may)
      _ = wait(&table, for: UInt64(2 * number), number)
    }
    let (polled, told) = (mayWait(&table, for: 1000, isPolled: true), mayWait(&table, for: 1000))
    #expect(!polled && told)
  }

  @Test func `all that wait for a byte have the bound of the first`() {
    var table = table
    // Callers that give up after four seconds, and ask again.
    let answers = [0, 4, 8, 12, 16, 20, 24, 34].map { mayWait(&table, for: 2, at: $0) }
    #expect(answers == [true, true, true, false, false, false, false, true])
    let other = mayWait(&table, for: 4, at: 12)
    #expect(other)
  }

  @Test func `a turn or a value that is found ends a bound`() {
    var table = table
    _ = mayWait(&table, for: 2)
    _ = mayWait(&table, for: 4)
    take(&table, 2)
    table.bounds[4] = nil
    let answers = [2, 4].map { mayWait(&table, for: $0, at: 12) }
    #expect(answers == [true, true])
  }

  @Test func `a bound ends with the turn that was waited for`() {
    var table = table
    let before = mayWait(&table, for: 2)
    _ = (table.claim(2), table.settle(2, .alone))
    let after = mayWait(&table, for: 2, at: 12)
    #expect(before && after)
  }

  @Test func `a wake of another byte keeps no load from waiting`() {
    var table = table
    let count = table.wakeCount(of: 2)
    _ = table.wake(4)
    let isWaiting = table.wait(for: 2, since: count, 1)
    #expect(isWaiting)
  }

  @Test func `an overtaken byte is not waited for until its turn is granted or long not asked for`()
  {
    var table = table
    _ = wait(&table, for: 2, 1)
    let woken = table.overtake([2], now, atMost: .seconds(1))
    #expect(woken == [1])
    let answers = [(2, 0), (4, 0), (2, 9), (2, 18), (2, 28)].map {
      mayWait(&table, for: $0.0, at: $0.1)
    }
    #expect(answers == [false, true, false, false, true])
    _ = table.overtake([2], now, atMost: .seconds(1))
    take(&table, 2)
    let isWaiting = mayWait(&table, for: 2)
    #expect(isWaiting)
  }

  @Test func `what has passed is forgotten, also when no load is refused`() {
    var table = table
    for number in 0..<10_000 {
      let time = now.advanced(by: .milliseconds(10 * number))
      _ = table.overtake([UInt64(2 * number)], time, atMost: .seconds(1))
      #expect(table.overtaken.count <= 1_024)
    }
  }

  @Test func `names with the same digest and another extension have turns of their own`() {
    let key = CacheKey("key")
    let extensions = [nil, "json", "jsom", "a"].map { $0.map { FileExtension($0.utf8)! } ?? .none }
    let bytes = extensions.map { LoadTurn.byte(of: EntryName(key, fileExtension: $0)) }
    #expect(Set(bytes).count == 4 && bytes.allSatisfy { $0 % 2 == 0 && $0 <= 1 << 62 })
  }

  @Test func `one tick is planned for all, and the pauses grow until a load begins to wait`() {
    var table = table
    let range = 1...5
    var pauses: [Int?] = []
    for number in [0, 1, 2, 3, 4, 0, 1] {
      _ = wait(&table, for: 2, 1)
      pauses.append(table.planTick(range, isFirst: number == 0))
      let second = table.planTick(range, isFirst: true)
      #expect(second == nil)
      let woken = table.tick()
      #expect(woken == [1])
    }
    #expect(pauses == [1, 2, 4, 5, 5, 1, 2])
  }
}
