#if LARDER_SCHEDULES
  import Glibc
  import Synchronization

  /// A gate at which one thread waits for its turn.
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

  /// A system thread that runs one thread of a schedule after the other.
  ///
  /// A carrier that is left in a schedule that got stuck, or in a killed process, stays there for
  /// ever. The exploring program restarts from time to time because of that.
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

    /// Runs the body. Objects that the body retains are released before the thread counts as ended.
    private func run() {
      let body = body.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
    }
  }

  /// The processor of an explorer.
  package enum Processor {
    /// Keeps all threads on one of the processors that the program may use. One of them runs at a
    /// time, and hands over in a third less time where no other processor has to be woken.
    package static func stay(worker: Int) {
      var words = [UInt64](repeating: 0, count: 16)
      guard unsafe c_sched_getaffinity(0, 128, &words) == 0 else { return }
      let allowed = (0..<1_024).filter { words[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
      let own = allowed[worker % allowed.count]
      words = [UInt64](repeating: 0, count: 16)
      words[own / 64] = 1 << UInt64(own % 64)
      // Without it the program is slower, and does the same.
      _ = unsafe c_sched_setaffinity(0, 128, words)
    }
  }

  /// The call stack of the caller, by the names of its functions.
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

    /// The two functions that called what reaches a point, without the layer of system calls.
    static func callers() -> String {
      // Of `generic specialization <…> of closure #1 in Module.Type.name<…>(…)` the name alone.
      let names = text().split(separator: "\n").map { line -> Substring in
        let whole = line.firstRange(of: "> of ").map { line[$0.upperBound...] } ?? line
        return whole.prefix { $0 != "(" && $0 != "<" }.split(separator: " ").last ?? ""
      }
      return names.filter { $0.hasPrefix("Larder") && !$0.hasPrefix("LarderSystem.") }.prefix(2)
        .map { ", in \($0)" }.joined()
    }

    private static func demangled(_ name: String) -> String {
      guard name.hasPrefix("$s"), let text = unsafe c_demangle(name, name.utf8.count, nil, nil, 0)
      else { return name }
      defer { unsafe free(text) }
      return unsafe String(cString: text)
    }
  }
#endif
