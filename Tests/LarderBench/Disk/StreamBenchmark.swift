import Glibc
import Larder

/// The benchmark of a large value that is stored and read by asynchronous closures: how long it
/// takes, and how much memory the process has at most.
enum StreamBenchmark {
  static let usage = """
    usage: LarderBench stream [--directory DIR] [--bytes SIZE] [--most SIZE]

      --directory DIR  where the cache is made; the default is $TMPDIR or /tmp
      --bytes SIZE     the size of the value; 2G
      --most SIZE      exits 1 if the process had more resident memory than this; 64M
    """

  private struct Options {
    var directory = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var byteCount = 2 << 30
    var most = 64 << 20
  }

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try options(arguments)
    let path = "\(options.directory)/larder-stream-\(getpid())"
    var configuration = CacheConfiguration()
    configuration.disk.sizeLimit = nil
    let cache = try Cache(directory: path, coder: .bytes, configuration: configuration)
    let before = peak
    // Each pass prints its line, which shows the progress.
    _ = Progress("stream", seconds: Double(options.byteCount) * 12e-9)
    try measure("stored", options.byteCount) {
      _ = try await cache.store(forKey: "large") { writer in
        try await write(options.byteCount) { try await writer.write($0) }
      }
    }
    // Opened anew, so that the content is checked before it is lent.
    try cache.close()
    let second = try Cache(directory: path, coder: .bytes, configuration: configuration)
    for pass in ["checked and read", "read"] {
      try measure(pass, options.byteCount) {
        let count = try await second.withFile(forKey: "large") { try await drain($0) }
        precondition(count == options.byteCount, "the value is not whole")
      }
    }
    _ = try second.removeAll()
    try measure("loaded and read", options.byteCount) {
      let count = try await second.withFile(forKey: "other") { file in
        try await drain(file)
      } orStore: { writer in
        try await write(options.byteCount) { try await writer.write($0) }
      }
      precondition(count == options.byteCount, "the value is not whole")
    }
    _ = try second.removeAll()
    try second.close()
    unsafe unlink("\(path)/CACHEDIR.TAG")
    unsafe rmdir(path)
    print("resident memory: \(mebibytes(before)) MiB before, \(mebibytes(peak)) MiB at most")
    if peak > options.most { fail("more than \(mebibytes(options.most)) MiB", 1) }
  }

  /// Writes a value in pieces of 256 KiB that differ from each other.
  private static func write(
    _ byteCount: Int, to write: ([UInt8]) async throws -> Void
  ) async throws {
    var rest = byteCount
    while rest > 0 {
      let piece = [UInt8](
        repeating: UInt8(truncatingIfNeeded: rest >> 18), count: min(rest, 256 << 10))
      try await write(piece)
      rest -= piece.count
    }
  }

  /// Reads a value to its end and returns its bytes.
  private static func drain(_ file: EntryFileReader) async throws -> Int {
    var count = 0
    for try await piece in file { count += piece.count }
    return count
  }

  private static func measure(
    _ what: String, _ byteCount: Int, _ body: @escaping @Sendable () async throws -> Void
  ) throws {
    let start = ContinuousClock.now
    try BlockingTask.run { try await body() }
    let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
    print("\(what): \(mebibytes(byteCount)) MiB in \(milliseconds) ms")
  }

  /// The most resident bytes that the process has had. See: man 2 getrusage.
  private static var peak: Int {
    var usage = rusage()
    unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss << 10
  }

  private static func mebibytes(_ byteCount: Int) -> Int { byteCount >> 20 }

  private static func options(_ arguments: [String]) throws -> Options {
    var options = Options()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--directory": options.directory = rest.popFirst() ?? options.directory
      case "--bytes": options.byteCount = try ByteSize.parse(rest.popFirst())
      case "--most": options.most = try ByteSize.parse(rest.popFirst())
      default: throw UsageError()
      }
    }
    return options
  }
}
