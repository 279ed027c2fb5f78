import Glibc
import Larder
import LarderDigest

/// A test of a cache's state after a power cut. One process changes a cache and records the begin
/// and the end of each operation. Another process judges the directory in a state that the disk may
/// have had.
///
/// The script `Tests/Reliability/crash-states` provides the disk and the states.
enum CrashBenchmark {
  static let usage = """
    usage: LarderBench crash write|story|judge|value DIR … [--durable] [--behind] [--plain]
                             [--proof] [--blind] [--shared] [--seed N] [--process N]
                             [--steps N] [--threads N]

      write   stores, replaces and removes in an order that the seed gives, and writes to the file
              --marks FILE a line when it begins and a line when it has returned
      story   does what each line of the input says, in directories DIR-NUMBER: see CrashStory
      judge   reads lines of a key and its versions, and prints which version is served of each and
              what is wrong with the directory
      value   prints the value of DIR, a key, in the version --seed
    """

  /// Runs with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try CrashOptions(arguments)
    switch options.role {
    case .write: try CrashWriter(options).run()
    case .story:
      var story = try CrashStory(options)
      try story.run()
    case .judge:
      var judge = CrashJudge(options)
      try judge.run()
    case .value:
      let value = CrashValue(key: options.directory, version: Int(options.seed), isPlain: true)
      let isWritten = CrashMarks.write(value.bytes, to: STDOUT_FILENO)
      exit(isWritten ? 0 : 1)
    }
  }

  /// Opens the cache with the options, and with a change to the configuration.
  static func open(
    _ options: CrashOptions, in directory: String? = nil,
    _ change: (inout DiskCache.Configuration) -> Void = { _ in }
  ) throws -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.durability = options.isDurable ? .durable : .relaxed
    configuration.extending = .lifetime
    configuration.requireProof = options.requiresProof
    // No value has this length.
    configuration.shouldStore = { $1 != CrashValue.declinedByteCount }
    if options.isBehind { configuration.writeBehindLimit = 1 << 20 }
    change(&configuration)
    return try DiskCache(directory: directory ?? options.directory, configuration: configuration)
  }
}

/// The value of a key and a version. The judge computes it again.
struct CrashValue {
  let bytes: [UInt8]
  /// The extended data. An eighth of the values has some, unless they are plain.
  let extendedData: [UInt8]

  /// A length above that of all values, for values that the cache must decline.
  static let declinedByteCount = 300_001

  /// Creates a value of up to 16 KiB. One in sixteen is empty, and one in sixteen has up to 128
  /// KiB.
  init(key: String, version: Int, isPlain: Bool) {
    let seed = XXH64(Array("\(key) \(version)".utf8).span).finalize()
    var random = SeededRandom(seed: seed)
    let longest: UInt64 = seed % 16 == 2 ? 131_072 : 16_384
    let byteCount = seed % 16 == 0 ? 0 : Int(random.next() % longest)
    bytes = [UInt8](capacity: byteCount) { output in
      while output.count < byteCount {
        let word = random.next()
        for shift in 0..<min(8, byteCount - output.count) {
          output.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(shift))))
        }
      }
    }
    extendedData = seed % 8 == 1 && !isPlain ? Array("\(key) \(version)".utf8) : []
  }
}
