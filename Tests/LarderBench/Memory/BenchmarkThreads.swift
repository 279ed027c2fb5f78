import Glibc

/// Threads for benchmarks.
enum BenchmarkThreads {
  private final class Part: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs a function once per thread, with the thread's number, and waits for all. The first is the
  /// calling thread.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let others = (1..<max(count, 1)).map { number in start { body(number) } }
    body(0)
    for thread in others { pthread_join(thread, nil) }
  }

  /// Runs a function on a detached thread, whose end cannot be waited for.
  static func startDetached(_ body: @escaping @Sendable () -> Void) {
    pthread_detach(start(body))
  }

  private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let part = unsafe Unmanaged.passRetained(Part(body))
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Part>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, part.toOpaque())
    precondition(code == 0, "no thread could be started")
    return thread
  }
}
