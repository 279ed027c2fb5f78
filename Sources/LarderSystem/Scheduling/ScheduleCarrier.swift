#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  /// Where one thread waits for its turn.
  final class ScheduleGate: Sendable {
    // A `sem_t` at an address of its own, kept as a number because a pointer is not Sendable.
    private let address: UInt

    init() {
      let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
      unsafe sem_init(semaphore, 0, 0)
      address = UInt(bitPattern: semaphore)
    }

    private var semaphore: UnsafeMutablePointer<sem_t> {
      unsafe UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
    }

    func open() { unsafe sem_post(semaphore) }
    func wait() { while unsafe sem_wait(semaphore) != 0 {} }
  }

  /// A thread of the system that runs one thread of a schedule after the other.
  ///
  /// One that is left in a schedule that has got stuck, or in a process that was killed, stays
  /// there: the program that explores ends now and again for it.
  final class ScheduleCarrier: Sendable {
    let gate = ScheduleGate()
    private let body = Synchronization.Mutex<(@Sendable () -> Void)?>(nil)

    init() {
      do throws(Errno) {
        try startSystemThread { self.work() }
      } catch {
        preconditionFailure("no thread to be had for a schedule")
      }
    }

    func take(_ body: @escaping @Sendable () -> Void) {
      self.body.withLock { $0 = body }
    }

    private func work() {
      while true {
        gate.wait()
        run()
        Scheduler.finish(self)
      }
    }

    /// What the body holds is released before the thread has ended.
    private func run() {
      let body = body.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
    }
  }

  /// Where the caller is, by the names of its functions.
  enum Backtrace {
    package static func text() -> String {
      var frames = [UnsafeMutableRawPointer?](repeating: nil, count: 40)
      let count = unsafe Int(c_backtrace(&frames, 40))
      return unsafe frames[..<count].compactMap { frame -> String? in
        // A `Dl_info`, which Glibc's module lacks: file, base, the symbol's name, its address.
        var info = [UInt](repeating: 0, count: 4)
        guard let frame = unsafe frame, unsafe c_dladdr(frame, &info) != 0,
          let name = unsafe UnsafePointer<CChar>(bitPattern: info[2])
        else { return nil }
        return unsafe "      " + demangled(String(cString: name))
      }.filter { !$0.contains("chedul") && !$0.contains("withLock") }.joined(separator: "\n")
    }

    private static func demangled(_ name: String) -> String {
      guard name.hasPrefix("$s"), let text = unsafe c_demangle(name, name.utf8.count, nil, nil, 0)
      else { return name }
      defer { unsafe free(text) }
      return unsafe String(cString: text)
    }
  }
#endif
