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
