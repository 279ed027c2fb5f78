import Larder
import LarderDigest

/// The benchmark of the digests: MD5 on keys of one and two blocks, XXH64 on a mebibyte of content.
enum DigestBenchmark {
  static let usage = "usage: LarderBench digest [SAMPLES]"

  /// Prints the medians, one a line, in nanoseconds and gigabytes per second.
  ///
  /// - Parameter arguments: The number of samples of each digest, or nothing. The default is 201.
  static func run(arguments: [String]) {
    let samples = max(1, arguments.first.flatMap { Int($0) } ?? 201)
    let progress = Progress("digest", seconds: Double(samples) * 0.0015)
    defer { progress.end() }
    for count in [16, 55, 57, 119] {
      let key = [UInt8](repeating: 0x61, count: count)
      report("MD5, key of \(count) bytes", byteCount: count, samples: samples) {
        MD5.digest(of: key.span).low
      }
    }
    let content = [UInt8](repeating: 0x61, count: 1 << 20)
    report("XXH64, 1 MiB at once", byteCount: content.count, samples: samples) {
      XXH64(content.span).finalize()
    }
    report("XXH64, 1 MiB in chunks of 1,000", byteCount: content.count, samples: samples) {
      chunked(content.span, by: 1_000)
    }
  }

  private static func chunked(_ content: Span<UInt8>, by size: Int) -> UInt64 {
    var hash = XXH64()
    for start in stride(from: 0, to: content.count, by: size) {
      hash.update(content.extracting(start..<min(start + size, content.count)))
    }
    return hash.finalize()
  }

  private static func report(
    _ name: String, byteCount: Int, samples: Int, _ body: () -> UInt64
  ) {
    // A sample lasts about 100 µs, so that the time of reading the clock is negligible.
    let calls = max(1, 100_000 / (100 + byteCount / 14))
    let nanoseconds = medianNanoseconds(samples: samples, calls: calls, body)
    let gigabytes = Double(byteCount) / nanoseconds
    print("\(name): \(rounded(nanoseconds)) ns, \(rounded(gigabytes)) GB/s")
  }

  /// Returns the median of samples, because a pause of the machine would change the mean.
  private static func medianNanoseconds(
    samples: Int, calls: Int, _ body: () -> UInt64
  ) -> Double {
    let clock = ContinuousClock()
    var sum: UInt64 = 0
    let times = (0..<samples).map { _ in
      let elapsed = clock.measure {
        for _ in 0..<calls { sum &+= body() }
      }
      return elapsed / .nanoseconds(1) / Double(calls)
    }
    // The sum is used, so that the compiler cannot remove the calls.
    precondition(sum != 1, "the digests of equal messages add up to 1")
    return times.sorted()[samples / 2]
  }

  private static func rounded(_ value: Double) -> Double {
    (value * 100).rounded() / 100
  }
}
