import Glibc
import Larder

/// A cache that executes the lines of its input and answers each with a line. Scripts change its
/// environment between two lines.
enum DriveBenchmark {
  static let usage = """
    usage: LarderBench drive DIR [--limit BYTES] [--durable] [--read-only] [--clock SECONDS]
                             [--ignore-signal]

      store KEY BYTES [EXPIRES]   EXPIRES: seconds, or never; by default the cache's
      stream KEY BYTES            the same in pieces of 64 KiB
      get KEY BYTES               reads into memory and compares with what was stored
      file KEY BYTES              the same through the descriptor, in pieces
      expiry KEY                  the expiry on disk: seconds, or never
      hold KEY DEPTH              opens the file so many times at once
      remove KEY | clear | count | bytes | flush | verify | misses | close
      clock SECONDS               sets the clock
      open                        opens the directory again, after close
      memory                      the most bytes that the process ever had resident
    """

  /// Runs with the arguments that follow its name, until the input ends.
  static func run(arguments: [String]) throws {
    var driver = try Driver(arguments)
    while let line = readLine() {
      let answer = driver.answer(to: line.split(separator: " ").map(String.init))
      print(answer)
      fflush(nil)
    }
  }
}
