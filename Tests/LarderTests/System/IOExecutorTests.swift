import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

@Suite(.watched)
struct `The executor` {
  @Test(arguments: [1, 2, 4])
  func `every job runs once, however many threads submit`(threadLimit: Int) async {
    let executor = IOExecutor(threadLimit: threadLimit)
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<500 {
            await withCheckedContinuation { continuation in
              executor.submit {
                counter.add()
                continuation.resume()
              }
            }
          }
        }
      }
    }
    #expect(counter.value == 4000)
  }

  @Test func `jobs of one thread run in the order of their submission`() async {
    let executor = IOExecutor(threadLimit: 1)
    let order = Mutex<[Int]>([])
    await withCheckedContinuation { continuation in
      for number in 0..<1000 { executor.submit { order.withLock { $0.append(number) } } }
      executor.submit { continuation.resume() }
    }
    #expect(order.withLock { $0 } == Array(0..<1000))
  }

  @Test func `jobs with a delay run in the order of their times`() async {
    // The times count from each submission. So the order is certain only if all three come within
    // the difference of two delays, which a busy machine may prevent.
    var gap = Duration.milliseconds(10)
    while true {
      let (order, took) = await orderOfDelays(gap)
      if took < gap {
        #expect(order == [1, 2, 3])
        return
      }
      gap = gap * 4
    }
  }

  /// Submits three jobs, the first one with the longest delay. Returns their order, and the time
  /// that the submissions took.
  private func orderOfDelays(_ gap: Duration) async -> (order: [Int], took: Duration) {
    let executor = IOExecutor(threadLimit: 1)
    let order = Mutex<[Int]>([])
    let took = Shared(Duration.zero)
    await withCheckedContinuation { continuation in
      let start = MonotonicTime.now
      let ended = Counter()
      for number in [3, 1, 2] {
        executor.submit(after: gap * number) {
          order.withLock { $0.append(number) }
          ended.add()
          if ended.value == 3 { continuation.resume() }
        }
      }
      took.value = MonotonicTime.now.duration(since: start)
    }
    return (order.withLock { $0 }, took.value)
  }

  @Test func `a delayed job does not hold up what is ready`() async {
    let executor = IOExecutor(threadLimit: 1)
    let late = Counter()
    executor.submit(after: .seconds(3600)) { late.add() }
    await withCheckedContinuation { continuation in executor.submit { continuation.resume() } }
    #expect(late.value == 0)
  }

  @Test func `threads of a retired executor end without work, and later jobs run`() {
    let (started, ended, ran, heard) = (Counter(), Counter(), Counter(), Happening())
    let executor = IOExecutor(threadLimit: 2, idleTime: .seconds(86_400)) { body throws(Errno) in
      started.add()
      try startThread {
        body()
        ended.add()
        heard.tell()
      }
    }
    let job: @Sendable () -> Void = {
      ran.add()
      heard.tell()
    }
    executor.submit(job)
    #expect(heard.wait { ran.value == 1 })
    #expect(ended.value == 0)
    executor.retire()
    #expect(heard.wait { ended.value == started.value && !executor.hasThreads })
    executor.submit(job)
    #expect(heard.wait { ran.value == 2 && ended.value == started.value })
  }

  @Test func `what found no thread runs when a later submission gets one`() async {
    let isRefused = Shared(true)
    let executor = IOExecutor(threadLimit: 1) { body throws(Errno) in
      if isRefused.value { throw .noMemory }
      try startThread(body)
    }
    let (ready, delayed) = (Counter(), Counter())
    executor.submit { ready.add() }
    #expect(ready.value == 1)
    executor.submit(after: .milliseconds(1)) { delayed.add() }
    #expect(!executor.hasThreads)
    isRefused.value = false
    await withCheckedContinuation { continuation in
      executor.submit(after: .milliseconds(2)) { continuation.resume() }
      // The submitting thread may rely on it at once.
      #expect(executor.hasThreads)
    }
    #expect(delayed.value == 1)
  }

  @Test func `a thread that is only being started is not there yet`() {
    let (box, seen) = (Shared<IOExecutor?>(nil), Shared<[Bool?]>([]))
    let executor = IOExecutor(threadLimit: 2) { _ throws(Errno) in
      let isThere = box.value?.hasThreads
      seen.change { $0.append(isThere) }
      throw .noMemory
    }
    box.value = executor
    executor.submit {
      let isThere = box.value?.hasThreads
      seen.change { $0.append(isThere) }
    }
    #expect(seen.value == [false, false])
    box.value = nil
  }

  @Test func `what a job held may submit another one when it is let go`() async {
    final class Holder: Sendable {
      let end: @Sendable () -> Void
      init(_ end: @escaping @Sendable () -> Void) { self.end = end }
      deinit { end() }
    }
    let executor = IOExecutor(threadLimit: 1)
    let gate = Gate()
    executor.submit { gate.pass() }
    gate.waitUntilReached()
    await withCheckedContinuation { continuation in
      func submit(_ holder: Holder) { executor.submit { withExtendedLifetime(holder) {} } }
      submit(Holder { executor.submit { continuation.resume() } })
      // One more, so that the queue is not empty after the job that holds.
      executor.submit {}
      gate.open()
    }
  }

  @Test func `a cancelled task leaves at once where its work has not begun`() async {
    let executor = IOExecutor(threadLimit: 1)
    let gate = Gate()
    defer { gate.open() }
    executor.submit { gate.pass() }
    gate.waitUntilReached()
    let task = Task {
      try await executor.run("test") { () throws(CacheError) in 1 }
    }
    task.cancel()
    // The gate is still shut.
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test func `a task that is cancelled when it is about to wait leaves at once`() async {
    let executor = IOExecutor(threadLimit: 1)
    let gate = Gate()
    defer { gate.open() }
    executor.submit { gate.pass() }
    gate.waitUntilReached()
    for _ in 0..<5_000 {
      let task = Task {
        try await executor.run("test") { () throws(CacheError) in 1 }
      }
      task.cancel()
      _ = await task.result
    }
  }

  @Test(arguments: [false, true])
  func `a cancelled task leaves work that has begun, if that only reads`(reads: Bool) async throws {
    let executor = IOExecutor(threadLimit: 1)
    let (gate, begun) = (Gate(), AsyncGate())
    defer { gate.open() }
    let task = Task {
      try await executor.run("test", reads: reads) { () throws(CacheError) in
        begun.open()
        gate.pass()
        return 1
      }
    }
    await begun.wait()
    task.cancel()
    if reads {
      let error = await #expect(throws: CacheError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    } else {
      gate.open()
      #expect(try await task.value == 1)
    }
  }

  @Test func `a task that was cancelled before it asks gets the error once`() async {
    let executor = IOExecutor(threadLimit: 1)
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await executor.run("test", replaces: true) { () throws(CacheError) in 1 }
    }
    let error = await #expect(throws: CacheError.self) { try await task.value }
    #expect(error?.code == .cancelled && error?.oldValueRemains == true)
  }
}
