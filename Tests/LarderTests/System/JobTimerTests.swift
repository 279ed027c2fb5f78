import Glibc
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderSystem

@Suite(.watched)
struct `The timer` {
  private let timer = JobTimer()
  private let heard = Happening()
}

extension `The timer` {
  @Test func `hands jobs over in the order of their times`() async {
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
        timer.submit(after: gap * number, to: executor) {
          order.withLock { $0.append(number) }
          ended.add()
          if ended.value == 3 { continuation.resume() }
        }
      }
      took.value = MonotonicTime.now.duration(since: start)
    }
    return (order.withLock { $0 }, took.value)
  }

  @Test func `does not wait for a job that hangs`() {
    let (gate, ran) = (Gate(), Counter())
    defer { gate.open() }
    let hung = IOExecutor()
    for _ in 0..<4 { timer.submit(after: .zero, to: hung) { gate.pass() } }
    for _ in 0..<4 { gate.waitUntilReached() }
    timer.submit(after: .milliseconds(1), to: IOExecutor()) {
      ran.add()
      heard.tell()
    }
    #expect(heard.wait { ran.value == 1 })
  }

  private final class Token: Sendable {}

  @Test func `forgets the jobs of an executor whose owner has ended, and no others`() {
    let (ended, other, ran) = (IOExecutor(), IOExecutor(), Counter())
    weak var seen: Token?
    do {
      let token = Token()
      seen = token
      timer.submit(after: .seconds(3_600), to: ended) { withExtendedLifetime(token) {} }
    }
    timer.submit(after: .milliseconds(20), to: other) { [heard] in
      ran.add()
      heard.tell()
    }
    #expect(seen != nil)
    timer.forget(jobsOf: ended)
    #expect(seen == nil)
    #expect(heard.wait { ran.value == 1 })
  }

  @Test func `needs no thread of an executor for what is not due`() async {
    await #expect(processExitsWith: .success) {
      let first = OpenResources.threads.count
      for _ in 0..<1_000 { JobTimer.own.submit(after: .seconds(3600), to: IOExecutor()) {} }
      #expect(OpenResources.threads.count <= first + 1)
    }
  }

  @Test func `runs jobs at their times although no file can be opened`() async {
    await #expect(processExitsWith: .success) {
      let (ran, heard) = (Counter(), Happening())
      var usual = rlimit()
      #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual) == 0)
      var none = rlimit(rlim_cur: 0, rlim_max: usual.rlim_max)
      #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
      JobTimer.own.submit(after: .zero, to: IOExecutor()) {
        ran.add()
        heard.tell()
      }
      #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual) == 0)
      #expect(heard.wait { ran.value == 1 })
    }
  }

  @Test func `waits for a descriptor also from a time on when it waits for jobs alone`() throws {
    let (executor, ran) = (IOExecutor(), Counter())
    let event = try EventDescriptor()
    timer.submit(after: .seconds(3_600), to: executor) {}
    // The thread waits by now, or takes the descriptor in at its first look.
    try timer.submit(whenReadable: event.descriptor.rawValue, after: .zero, to: executor) {
      ran.add()
      heard.tell()
    }
    event.raise()
    #expect(heard.wait { ran.value == 1 })
  }

  @Test func `tries again for a job that found no thread`() {
    let (refusals, ran) = (Counter(), Counter())
    let executor = IOExecutor { body throws(Errno) in
      if refusals.value == 0 {
        refusals.add()
        throw .noMemory
      }
      try startThread(body)
    }
    timer.submit(after: .zero, to: executor) {
      ran.add()
      heard.tell()
    }
    #expect(heard.wait { ran.value == 1 })
    #expect(refusals.value == 1)
  }

  @Test func `hands a job over once when its descriptor can be read`() throws {
    let (executor, ran) = (IOExecutor(threadLimit: 1), Counter())
    let event = try EventDescriptor()
    let job: Job = {
      ran.add()
      heard.tell()
    }
    try timer.submit(
      whenReadable: event.descriptor.rawValue, after: .zero, to: executor, job)
    event.raise()
    #expect(heard.wait { ran.value == 1 })
    try timer.submit(
      whenReadable: event.descriptor.rawValue, after: .milliseconds(1), to: executor, job)
    #expect(heard.wait { ran.value == 2 })
    // Two rounds of the timer later the job has not run again.
    for _ in 0..<2 {
      let passed = Counter()
      timer.submit(after: .milliseconds(1), to: executor) {
        passed.add()
        heard.tell()
      }
      #expect(heard.wait { passed.value == 1 })
    }
    #expect(ran.value == 2)
  }

  @Test func `has let go of a descriptor that it forgot`() throws {
    let (executor, ran) = (IOExecutor(threadLimit: 1), Counter())
    for delay in [Duration.zero, .seconds(3600)] {
      let event = try EventDescriptor()
      try timer.submit(whenReadable: event.descriptor.rawValue, after: delay, to: executor) {
        ran.add()
      }
      // One that is waited for already, if the timer has come so far.
      timer.submit(after: .zero, to: executor) { heard.tell() }
      timer.forget(event.descriptor.rawValue)
      event.raise()
    }
    let passed = Counter()
    timer.submit(after: .milliseconds(1), to: executor) {
      passed.add()
      heard.tell()
    }
    #expect(heard.wait { passed.value == 1 })
    #expect(ran.value == 0)
  }

  @Test func `forgets a descriptor also while it hands another job over`() throws {
    let (ran, passed) = (Counter(), Counter())
    let event = try EventDescriptor()
    try timer.submit(
      whenReadable: event.descriptor.rawValue, after: .zero, to: IOExecutor()
    ) {
      ran.add()
    }
    // The timer asks for this executor's thread while it waits for no descriptor.
    let executor = IOExecutor { [timer] body throws(Errno) in
      if passed.value == 0 {
        timer.forget(event.descriptor.rawValue)
        event.raise()
      }
      try startThread(body)
    }
    for count in 1...3 {
      timer.submit(after: .milliseconds(20), to: executor) { [heard] in
        passed.add()
        heard.tell()
      }
      #expect(heard.wait { passed.value == count })
    }
    #expect(ran.value == 0)
  }
}
