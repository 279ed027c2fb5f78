import Glibc
import Larder

/// A replay of a trace on one directory by several processes, which make its accesses by turns.
struct ReplayProcesses {
  private let directory: String
  private let options: ReplayOptions
  private let children: [StressChild]

  init(_ options: ReplayOptions, _ arguments: [String]) throws {
    let directory = ReplaySubject.temporaryDirectory()
    (self.directory, self.options) = (directory, options)
    children = try (0..<options.processCount).map { _ in
      try StressChild(["replay"] + arguments + ["--directory", directory, "--part"])
    }
  }

  /// Replays a trace and prints the figures.
  func run(_ trace: Trace) throws {
    var (report, random) = (ReplayReport(), SeededRandom(seed: 1))
    for number in trace.accesses.indices {
      let child = children[Int.random(in: children.indices, using: &random)]
      child.tell("\(number)")
      let answer = (child.readLine() ?? "").split(separator: " ").compactMap { Int($0) }
      guard answer.count == 2 else { fail("a process has ended", 4) }
      report.accesses += 1
      if answer[0] > 0 { report.leastBytes = min(report.leastBytes, answer[1]) }
    }
    for child in children {
      child.tell("end")
      let figures = (child.readLine() ?? "").split(separator: " ").compactMap { Int($0) }
      guard figures.count == 8, child.wait() else { fail("a process has failed", 4) }
      report.diskHits += figures[0]
      report.misses += figures[1]
      report.diskEvictions += figures[2]
      report.diskPurges += figures[3]
      (report.diskBytes, report.diskEntries) = (figures[4], figures[5])
      report.bytesHit += figures[6]
      report.wrongValues += figures[7]
    }
    report.rate = options.rate
    print(options.isJSON ? report.json : report.table)
    let cache = try DiskCache(directory: directory)
    try cache.removeAll()
    try cache.close()
  }

  /// Makes the accesses whose numbers come in lines. Says for each how many evictions have begun,
  /// and the total.
  static func runPart(_ trace: Trace, _ subject: inout ReplaySubject) throws {
    var report = ReplayReport()
    while let line = readLine(), let number = Int(line) {
      let access = trace.accesses[number]
      try subject.prepare(number, &report)
      try subject.access(trace.objects[access.object], access.byteCount, &report)
      print("\(subject.disk?.statistics.purges ?? 0) \(try subject.disk?.totalSize() ?? 0)")
      fflush(nil)
    }
    try subject.finish(&report)
    let hits = report.diskHits + report.memoryHits
    let figures = [
      hits, report.misses, report.diskEvictions, report.diskPurges, report.diskBytes,
      report.diskEntries, report.bytesHit, report.wrongValues,
    ]
    print(figures.map(String.init).joined(separator: " "))
    fflush(nil)
    try subject.disk?.close()
  }
}
