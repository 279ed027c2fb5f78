#if LARDER_SCHEDULES
  import Glibc

  @testable import LarderDisk
  @testable import LarderSystem

  /// A year of a server's life, by the virtual clock: a schedule for each day, on one directory.
  struct Year {
    var seed: UInt64 = 1
    var dayCount = 365
    var traces: [String] = []
    /// The accesses of a day.
    var accessCount = 4_000

    /// Runs the days, and prints what was wrong and the figures.
    func run() -> Bool {
      let truth = YearTruth()
      let traffic = YearTraffic(traces: traces, seed: seed)
      let start = Explorer.milliseconds
      var pointCount = 0
      var memory = Self.residentMegabytes
      let first = memory
      ScheduledFiles.begin(tick: 4_000_000)
      mkdir(Workplace.path, 0o700)
      for number in 0..<dayCount where truth.problems.isEmpty {
        let daySeed = seed &* 1_000 &+ UInt64(number)
        let day = YearDay(
          number, seed: daySeed, path: Workplace.path, truth, traffic, accessCount: accessCount)
        Progress.note("year \(seed), day \(number)")
        let outcome = Scheduler.run(
          Strategy.random(period: 30).make(seed: daySeed, early: 0),
          pointLimit: .max, span: Scheduler.Span(day: number)
        ) { day.direct() }
        pointCount += outcome.pointCount
        if !outcome.stuck.isEmpty { truth.report("day \(number): stuck:\n\(outcome.list)") }
        memory = max(memory, Self.residentMegabytes)
      }
      RawFiles.removeDirectory(Workplace.path)
      let seconds = Double(max(1, Explorer.milliseconds - start)) / 1_000
      for problem in truth.problems { Progress.tell("WRONG \(problem)") }
      let (counts, speed) = (truth.counts, (Double(dayCount) / seconds).rounded(to: 2))
      Progress.tell(
        "\(dayCount) days in \(Int(seconds)) s, \(speed) a second, seed \(seed): "
          + "\(counts.accesses) reads, \(counts.hits) of them hits, \(counts.stores) stores, "
          + "\(counts.removals) removals, \(counts.failures) failed calls; \(pointCount) points; "
          + "\(memory - first) MB more memory; \(counts.wrong) wrong, \(counts.stale) stale, "
          + "\(truth.problems.count) problems")
      return truth.problems.isEmpty
    }

    private static var residentMegabytes: Int {
      let text = String(decoding: RawFiles.all("/proc/self/statm"), as: UTF8.self)
      return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 / 256 } ?? 0
    }
  }

  extension Double {
    /// Returns the number with some digits after the point.
    fileprivate func rounded(to digits: Int) -> Double {
      var factor = 1.0
      for _ in 0..<digits { factor *= 10 }
      return (self * factor).rounded() / factor
    }
  }
#endif
