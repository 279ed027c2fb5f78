import Glibc

/// Threads that start together, do a part each, and are waited for.
enum BenchmarkThreads {
  private final class Part: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Runs a function once per thread, with the thread's number; the first is the caller's own.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let others = (1..<max(count, 1)).map { number in start { body(number) } }
    body(0)
    for thread in others { pthread_join(thread, nil) }
  }

  /// Runs a function on a thread that nobody waits for.
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
