import Glibc
import Synchronization

let isWrong = Atomic<Bool>(false)

/// Prints whether something holds; the program fails in the end if not.
func judge(_ holds: Bool, _ text: String) {
  print("  \(holds ? "ok   " : "WRONG") \(text)")
  fflush(nil)
  if !holds { isWrong.store(true, ordering: .relaxed) }
}

func fail(_ text: String) -> Never {
  print(text)
  exit(2)
}

/// The seconds of a clock that only goes forward.
func now() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// A count that threads share.
final class Flag: Sendable {
  private let value = Atomic<Int>(0)
  var count: Int { value.load(ordering: .acquiring) }
  func add() { value.add(1, ordering: .acquiringAndReleasing) }
}

private final class Box: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs a closure on a thread of its own.
func inThread(_ body: @escaping @Sendable () -> Void) {
  var thread = pthread_t()
  let box = unsafe Unmanaged.passRetained(Box(body))
  unsafe pthread_create(
    &thread, nil,
    { argument in
      unsafe Unmanaged<Box>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().run()
      return nil
    }, box.toOpaque())
  pthread_detach(thread)
}

/// The number of threads of this process.
var threadCount: Int {
  guard let stream = unsafe opendir("/proc/self/task") else { return 0 }
  defer { unsafe closedir(stream) }
  var count = -2
  while unsafe readdir(stream) != nil { count += 1 }
  return count
}

func write(_ text: String, to path: String) {
  guard let file = unsafe fopen(path, "w") else { fail("\(path) cannot be written") }
  unsafe fputs(text, file)
  unsafe fclose(file)
}

/// The bytes of memory that this process has.
var residentByteCount: Int {
  guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
  defer { unsafe fclose(file) }
  var (size, resident) = (0, 0)
  unsafe withUnsafeMutablePointer(to: &size) { size in
    unsafe withUnsafeMutablePointer(to: &resident) { resident in
      _ = unsafe withVaList([size, resident]) { unsafe vfscanf(file, "%ld %ld", $0) }
    }
  }
  return resident * 4_096
}
