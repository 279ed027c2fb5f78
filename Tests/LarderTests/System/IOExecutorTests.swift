import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

@Suite(.watched)
struct `The executor` {}

extension `The executor` {
  @Test func `its threads take the signals of their own faults alone`() async {
    let executor = IOExecutor(threadLimit: 1)
    let taken = await withCheckedContinuation { continuation in
      executor.submit {
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        let all = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS, SIGTERM, SIGCHLD, SIGINT]
        continuation.resume(returning: all.filter { unsafe sigismember(&mask, $0) == 0 })
      }
    }
    #expect(taken == [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS])
  }

  @Test(arguments: [false, true])
  func `a batch lets others have a turn, and ends when it is cancelled`(ends: Bool)
    async throws
  {
    let executor = IOExecutor(threadLimit: 1)
    let (gate, begun, counter, seen) = (Gate(), Counter(), Counter(), Counter())
    let batch = Task {
      await executor.map(Array(0..<1_000)) { (number: Int) throws(CacheError) in
        if number == 0 {
          begun.add()
          gate.pass()
        }
        counter.add()
        return number
      }
    }
    try await eventually("the batch to begin") { () async in begun.value == 1 }
    executor.submit { for _ in 0..<counter.value { seen.add() } }
    if ends { batch.cancel() }
    gate.open()
    let numbers = await batch.value.compactMap { try? $0.get() }
    let expected = Array(0..<(ends ? 128 : 1_000))
    #expect(seen.value == 128 && numbers == expected)
  }

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

  @Test func `what found no thread runs when a later submission gets one`() async {
    let isRefused = Shared(true)
    let executor = IOExecutor(threadLimit: 1) { body throws(Errno) in
      if isRefused.value { throw .noMemory }
      try startThread(body)
    }
    let (ready, left) = (Counter(), Counter())
    executor.submit { ready.add() }
    #expect(ready.value == 1)
    let isTaken = executor.submitAside { left.add() }
    #expect(!isTaken && left.value == 0)
    isRefused.value = false
    await withCheckedContinuation { continuation in executor.submit { continuation.resume() } }
    #expect(left.value == 1)
  }

  @Test func `what must not run in its caller runs as soon as there is a thread`() async {
    let isRefused = Shared(true)
    let executor = IOExecutor(threadLimit: 1) { body throws(Errno) in
      if isRefused.value { throw .noMemory }
      try startThread(body)
    }
    let caller = ThreadIdentity.current
    await withCheckedContinuation { continuation in
      executor.submitEventually {
        #expect(ThreadIdentity.current != caller)
        continuation.resume()
      }
      isRefused.value = false
    }
  }

  @Test func `a job that hangs takes no thread from other executors`() {
    let (gate, ran, heard) = (Gate(), Counter(), Happening())
    defer { gate.open() }
    let executors = (0..<8).map { _ in IOExecutor(threadLimit: 1) }
    for executor in executors {
      executor.submit { gate.pass() }
      gate.waitUntilReached()
    }
    IOExecutor(threadLimit: 1).submit {
      ran.add()
      heard.tell()
    }
    #expect(heard.wait { ran.value == 1 })
  }

  @Test func `executors that have no jobs share a few threads`() async {
    await #expect(processExitsWith: .success) {
      let first = OpenResources.threads.count
      for _ in 0..<1_000 {
        let executor = IOExecutor(threadLimit: 4)
        await withCheckedContinuation { continuation in executor.submit { continuation.resume() } }
      }
      #expect(OpenResources.threads.count < first + 20)
    }
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

  @Test func `a queue that is never empty takes no memory for jobs that have run`() {
    var state = IOExecutor.State()
    let ran = Counter()
    for _ in 0..<3 { state.ready.append { ran.add() } }
    for _ in 0..<20_000 {
      state.ready.append { ran.add() }
      state.takeJob(endsThread: false)?()
    }
    #expect(ran.value == 20_000 && state.ready.count < 3_000)
    while let job = state.takeJob(endsThread: false) { job() }
    #expect(ran.value == 20_003 && state.ready.isEmpty)
    for _ in 0..<100_000 { state.ready.append { ran.add() } }
    while let job = state.takeJob(endsThread: false) { job() }
    #expect(ran.value == 120_003 && state.ready.capacity < 3_000)
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
  func `a cancelled task leaves nothing of what its work was to get`(reads: Bool) async {
    final class Value: Sendable {
      let ends: Counter
      init(_ ends: Counter) { self.ends = ends }
      deinit { ends.add() }
    }
    let (executor, gate, ends) = (IOExecutor(threadLimit: 1), Gate(), Counter())
    defer { gate.open() }
    executor.submit { gate.pass() }
    gate.waitUntilReached()
    let tasks = (0..<100).map { _ in
      Task {
        try await executor.run(
          "test", reads: reads, { (_: Value) throws(CacheError) in 1 }, Value(ends))
      }
    }
    for _ in 0..<200 { await Task.yield() }
    for task in tasks {
      task.cancel()
      _ = await task.result
    }
    #expect(ends.value == 100)
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
