import Larder
import LarderSystem
import Synchronization

/// Asynchronous calls beside the synchronous ones that do the same work, in turns.
enum AwaitBenchmark {
  static let usage = """
    usage: LarderBench await [DIR] [--rounds N]

      Microseconds a call, medians of rounds: synchronous, awaited, awaited by 32 tasks.
      DIR is made anew and removed; the default is in TMPDIR.
    """

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) async throws {
    var rest = arguments[...]
    var (directory, rounds) = (ReplaySubject.temporaryDirectory(), 15)
    while let argument = rest.popFirst() {
      if argument == "--rounds" {
        rounds = try ByteSize.parse(rest.popFirst())
      } else if argument.hasPrefix("-") {
        throw UsageError()
      } else {
        directory = argument
      }
    }
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.recencyGranularity = .seconds(3600)
    let disk = try DiskCache(directory: directory, configuration: configuration)
    for number in 0..<count { try store(disk, number) }
    // The first read checks the content, and the first miss tells the kernel of the name.
    try warm(disk)
    print("us a call            sync   await  32 tasks   await/sync  32/sync")
    try await compare("hit", rounds, { try disk.value(forKey: "\($0)") != nil }) {
      try await disk.value(forKey: "\($0)") != nil
    }
    try await compare("miss", rounds, { try disk.value(forKey: "-\($0)") == nil }) {
      try await disk.value(forKey: "-\($0)") == nil
    }
    try await compare("contains", rounds, { try disk.contains("\($0)") }) {
      try await disk.contains("\($0)")
    }
    try await compare("store", rounds, { try store(disk, $0) }) {
      try await disk.store(bytes, forKey: "\($0)") == .stored
    }
    // A processor that has had no work for 50 us takes longer to wake, so a round trip without
    // work says nothing of a store, which takes longer than that.
    let handed = try (0..<rounds).map { _ in
      try roundTrip { number in _ = try? store(disk, number) }
    }
    print("store by another thread, woken by a futex  \(handed.median.rounded(to: 2))")
    var bare: [Double] = []
    for _ in 0..<rounds { bare.append(try await bareAwait { _ = try? store(disk, $0) }) }
    print("store by another thread, awaited in the least way  \(bare.median.rounded(to: 2))")
    print("futex round trip  \(try roundTrip { _ in }.rounded(to: 2))")
    let statistics = disk.statistics
    print("reads here \(statistics.promptReads), on other threads \(statistics.switchedReads)")
    try await disk.removeAll()
    try await disk.close()
  }

  private static let count = 500
  private static let bytes = [UInt8](repeating: 7, count: 1024)

  /// Returns the microseconds in which another thread is woken, does its work and wakes this one.
  private static func roundTrip(_ work: @escaping @Sendable (Int) -> Void) throws -> Double {
    let (there, back) = (Wakeup(), Wakeup())
    try startThread {
      for number in 1...count {
        there.wait(for: number)
        work(number - 1)
        back.signal()
      }
    }
    return time {
      for number in 1...count {
        there.signal()
        back.wait(for: number)
      }
    }
  }

  /// Returns the microseconds in which a task waits for the work of another thread, by nothing but
  /// a continuation, a thread that waits for one and the two wakes.
  private static func bareAwait(_ work: @escaping @Sendable (Int) -> Void) async throws -> Double {
    let handed = Mutex<CheckedContinuation<Void, Never>?>(nil)
    let there = Wakeup()
    try startThread {
      for number in 1...count {
        there.wait(for: number)
        work(number - 1)
        handed.withLock { exchange(&$0, with: nil) }?.resume()
      }
    }
    return await time {
      for _ in 0..<count {
        await withCheckedContinuation { continuation in
          handed.withLock { $0 = continuation }
          there.signal()
        }
      }
    }
  }

  private static func warm(_ disk: DiskCache) throws {
    for number in 0..<count {
      _ = try disk.value(forKey: "\(number)")
      _ = try disk.value(forKey: "-\(number)")
    }
  }

  @discardableResult
  private static func store(_ disk: DiskCache, _ number: Int) throws -> Bool {
    try disk.store(bytes, forKey: "\(number)") == .stored
  }

  /// Prints the medians of a call in its three forms, which take turns.
  private static func compare(
    _ name: String, _ rounds: Int, _ call: (Int) throws -> Bool,
    _ awaited: @escaping @Sendable (Int) async throws -> Bool
  ) async throws {
    var times: [[Double]] = [[], [], []]
    for _ in 0..<rounds {
      times[0].append(try time { for number in 0..<count where try !call(number) { fail() } })
      times[1].append(
        try await time { for number in 0..<count where try await !awaited(number) { fail() } })
      times[2].append(
        try await time {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<32 {
              group.addTask {
                for number in stride(from: task, to: count, by: 32) where try await !awaited(number)
                {
                  fail()
                }
              }
            }
            try await group.waitForAll()
          }
        })
    }
    let medians = times.map(\.median)
    let ratios = medians.dropFirst().map { ($0 / medians[0]).rounded(to: 2) }
    let columns = medians.map { $0.rounded(to: 2) }
    print("\(name)  \(columns.joined(separator: "  "))   \(ratios.joined(separator: "  "))")
  }

  private static func fail() { fatalError("a call gave the wrong answer") }

  private static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .microseconds(count)
  }

  private static func time(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .microseconds(count)
  }
}

/// A number of signals, at which a thread sleeps until there are so many.
private final class Wakeup: Sendable {
  private let signals = Atomic<Int>(0)
  private let event = EventCount()

  func signal() {
    signals.wrappingAdd(1, ordering: .sequentiallyConsistent)
    event.signal()
  }

  func wait(for number: Int) {
    while true {
      let ticket = event.ticket()
      if signals.load(ordering: .sequentiallyConsistent) >= number { return }
      event.wait(ticket)
    }
  }
}
