import Glibc
import Larder

/// A demonstration of a cache under real memory pressure. The cache is filled, then the process has
/// to wait for memory, and the monitor's reactions are printed as they happen. The kernel is also
/// asked for every window of time that a monitor may have.
enum PressureBenchmark {
  static let usage = """
    usage: LarderBench pressure [--megabytes N] [--seconds S] [--file DIR] [--page-out] [--machine]

      --megabytes N   the cache's size, and that of a file that is read again and again; 48
      --seconds S     how long the file is read; the cache has as long again to recover; 20
      --file DIR      where the file is made, not in memory; the default is $TMPDIR or /tmp
      --page-out      takes the file's pages away itself, where no limit of a group does
      --machine       watches the machine's pressure and not that of the process's own group
    """

  private struct Options {
    var byteCount = 48 << 20
    var seconds = 20
    var directory = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var pagesOut = false
    var watchesMachine = false
  }

  /// Runs with the arguments that follow its name. Exits 1 if the process waited for memory and the
  /// cache did not shrink, or did not recover.
  static func run(arguments: [String]) throws {
    let options = try options(arguments)
    let start = MonotonicTime.now
    @Sendable func say(_ text: String) {
      let tenths = Int(MonotonicTime.now.duration(since: start) / .milliseconds(100))
      print("\(tenths / 10).\(tenths % 10) s: \(text)")
      fflush(nil)
    }
    let progress = Progress("pressure", seconds: Double(2 * options.seconds))
    defer { progress.end() }
    checkWindows()
    let cache = MemoryCache<Int, [UInt8]>(.init(costLimit: options.byteCount))
    fill(cache)
    let monitor = MemoryPressureMonitor(
      configuration(options) { step in
        say("\(step): the cache has \(cache.totalCost >> 20) MiB")
      })
    guard monitor.status.isWatching else {
      return print("skipped: \(monitor.status.source)")
    }
    monitor.attach(cache)
    let before = waited()
    say("watching \(monitor.status.source), the cache has \(cache.totalCost >> 20) MiB")
    let stall = try ReadAgain(
      byteCount: options.byteCount, directory: options.directory, pagesOut: options.pagesOut)
    let end = start.advanced(by: .seconds(options.seconds))
    while MonotonicTime.now < end && cache.count > 0 { stall.run() }
    let time = waited() - before
    say("the machine waited for memory for \(time / 1000) ms; the reading ends")
    judge(cache, monitor, waitedMilliseconds: time / 1000, options.seconds, say)
  }

  /// Checks that the kernel takes every window that a configuration takes, if it takes any.
  private static func checkWindows() {
    let seconds = [2, 4, 6, 8, 10].filter { seconds in
      var configuration = MemoryPressureMonitor.Configuration()
      configuration.watchesMachine = true
      configuration.window = .seconds(seconds)
      return MemoryPressureMonitor(configuration).status.isWatching
    }
    if !seconds.isEmpty && seconds.count < 5 { fail("of the windows only \(seconds) work", 1) }
  }

  private static func judge(
    _ cache: MemoryCache<Int, [UInt8]>, _ monitor: MemoryPressureMonitor, waitedMilliseconds: Int,
    _ seconds: Int, _ say: (String) -> Void
  ) {
    guard monitor.status.signals > 0 else {
      // Waiting was below the threshold in every window, so there is nothing to show.
      guard waitedMilliseconds < 1000 else { fail("no signal came", 1) }
      return print("skipped: memory is not waited for here")
    }
    if cache.totalCost > 24 << 20 { fail("the cache kept \(cache.totalCost) bytes", 1) }
    let end = MonotonicTime.now.advanced(by: .seconds(seconds))
    while monitor.status.restorations == 0 && MonotonicTime.now < end { usleep(100_000) }
    if monitor.status.restorations == 0 { fail("the limits were not restored", 1) }
    fill(cache)
    say(
      "filled again: the cache has \(cache.totalCost >> 20) MiB; \(monitor.status.signals) signals")
  }

  private static func configuration(
    _ options: Options, _ told: @escaping @Sendable (String) -> Void
  ) -> MemoryPressureMonitor.Configuration {
    var configuration = MemoryPressureMonitor.Configuration()
    configuration.watchesMachine = options.watchesMachine
    configuration.threshold = .milliseconds(50)
    configuration.recoveryTime = .seconds(6)
    configuration.stepListener = { told("\($0)") }
    return configuration
  }

  /// Fills a cache with values of 1 MiB each. The allocator returns such memory to the system at
  /// once.
  private static func fill(_ cache: MemoryCache<Int, [UInt8]>) {
    let limit = cache.costLimit ?? 0
    for number in 0..<limit >> 20 {
      cache.store([UInt8](repeating: 7, count: 1 << 20), forKey: number, cost: 1 << 20)
    }
  }

  /// Returns the microseconds for which tasks of the machine have waited for memory. See: psi.rst
  /// of the kernel.
  private static func waited() -> Int {
    let text = firstLine(ofFile: "/proc/pressure/memory")
    let total = text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("total=") }
    return total.flatMap { Int($0.dropFirst(6)) } ?? 0
  }

  private static func options(_ arguments: [String]) throws -> Options {
    var options = Options()
    var rest = arguments[...]
    func number(_ text: String?) throws -> Int {
      guard let text, let number = Int(text), number > 0 else { throw UsageError() }
      return number
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--megabytes": options.byteCount = try number(rest.popFirst()) << 20
      case "--seconds": options.seconds = try number(rest.popFirst())
      case "--file": options.directory = rest.popFirst() ?? options.directory
      case "--page-out": options.pagesOut = true
      case "--machine": options.watchesMachine = true
      default: throw UsageError()
      }
    }
    return options
  }
}

/// A mapped file whose pages are read repeatedly.
private final class ReadAgain {
  private let byteCount: Int
  private let pagesOut: Bool
  private let address: UInt

  struct Failure: Error {
    let errno: Int32
  }

  init(byteCount: Int, directory: String, pagesOut: Bool) throws {
    (self.byteCount, self.pagesOut) = (byteCount, pagesOut)
    let path = "\(directory)/larder-pressure-\(getpid())"
    let file = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(errno: errno) }
    // The mapping keeps the file until the process ends.
    unsafe unlink(path)
    defer { close(file) }
    let piece = [UInt8](repeating: 7, count: 1 << 20)
    for _ in 0..<byteCount >> 20 {
      guard unsafe write(file, piece, piece.count) == piece.count else {
        throw Failure(errno: errno)
      }
    }
    // Synced, because the kernel does not reclaim dirty pages.
    fsync(file)
    let mapped = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, file, 0)
    guard unsafe mapped != MAP_FAILED, let mapped = unsafe mapped else {
      throw Failure(errno: errno)
    }
    address = UInt(bitPattern: mapped)
    // Without read-ahead, so that the process waits for each page.
    unsafe madvise(mapped, byteCount, MADV_RANDOM)
  }

  /// Reads every page twice, so that all count as used, also those that were reclaimed.
  func run() {
    guard let pages = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
    // MADV_PAGEOUT of asm-generic/mman-common.h, which Glibc's module lacks.
    if pagesOut { unsafe madvise(pages, byteCount, 21) }
    var sum = 0
    for _ in 0..<2 {
      for offset in stride(from: 0, to: byteCount, by: 4_096) {
        sum &+= Int(unsafe pages.load(fromByteOffset: offset, as: UInt8.self))
      }
    }
    precondition(sum != 0, "the pages hold sevens")
  }
}
