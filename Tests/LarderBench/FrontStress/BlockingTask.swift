import Glibc
import Synchronization

/// A task that a thread waits for.
enum BlockingTask {
  private final class Outcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
  }

  /// Runs a task and returns its result. Only for threads outside of Swift's thread pool.
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let outcome = Outcome<Value>()
    let semaphore = PipeSemaphore()
    Task {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.result.withLock { $0 = result }
      semaphore.signal()
    }
    semaphore.wait()
    guard let result = outcome.result.withLock({ $0 }) else {
      preconditionFailure("the task has ended without an outcome")
    }
    return try result.get()
  }

  /// Runs a task on the calling thread, for tools that count what one thread does.
  static func runHere(_ body: @escaping @Sendable () async throws -> Void) throws {
    let outcome = Outcome<Bool>()
    let executor = CallingThread()
    Task(executorPreference: executor) {
      let result: Result<Bool, any Error>
      do {
        try await body()
        result = .success(true)
      } catch {
        result = .failure(error)
      }
      outcome.result.withLock { $0 = result }
    }
    while true {
      executor.runJobs()
      if let result = outcome.result.withLock({ $0 }) {
        _ = try result.get()
        return
      }
    }
  }
}

/// An executor whose jobs the thread that waits for them runs.
private final class CallingThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func runJobs() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// Waits for one signal, through a pipe.
private struct PipeSemaphore: Sendable {
  private let reading: Int32
  private let writing: Int32

  init() {
    var ends: [Int32] = [0, 0]
    precondition(unsafe Glibc.pipe(&ends) == 0, "no pipe to be had")
    (reading, writing) = (ends[0], ends[1])
  }

  func signal() {
    var byte: UInt8 = 1
    _ = unsafe write(writing, &byte, 1)
  }

  func wait() {
    var byte: UInt8 = 0
    while unsafe read(reading, &byte, 1) < 0 && errno == EINTR {}
    close(reading)
    close(writing)
  }
}
