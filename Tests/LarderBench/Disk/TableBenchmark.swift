import Glibc

/// The benchmarks of the disk tier as the tables of the documentation: the time of each operation
/// and its ratio to raw system calls, with the machine, the date and the keys.
///
/// It ends within ten minutes on a machine like that of the guide Measuring. On one that is much
/// slower, it leaves out the eviction of half a million files and says so.
enum TableBenchmark {
  private static let mostSeconds = 600.0

  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    var options = try DiskOptions(arguments)
    let sizes = evictions(options)
    var values = options
    if values.entries.isEmpty { values.entries = [4_000] }
    let progress = Progress(
      "table",
      seconds: DiskBenchmark.expectedSeconds(values) + ScanBenchmark.expectedSeconds(options)
        + OpenBenchmark.expectedSeconds(options)
        + sizes.map(EvictBenchmark.expectedSeconds).reduce(0, +))
    print("\(machine), \(date); \(BenchmarkKeys.summary)\n")
    let rows = try DiskBenchmark.measure(values, progress).results.filter { $0.threads == 1 }
    progress.end()
    let bytes = { (result: DiskResult) in result.byteCount ?? 0 }
    show("least work", rows, \.ratioToLeast, by: "a value of", bytes, ByteSize.text)
    show(
      "same work", rows.filter { !$0.same.isEmpty }, \.ratioToSame, by: "a value of", bytes,
      ByteSize.text)
    if options.entries.isEmpty { options.rounds = min(options.rounds, 5) }
    var directories = try ScanBenchmark.measure(options, progress).results
    directories += try OpenBenchmark.measure(options, progress).results
    for size in sizes {
      let seconds = progress.forecast(EvictBenchmark.expectedSeconds(size))
      guard options.entries.isEmpty, progress.elapsed + seconds > mostSeconds else {
        directories += try EvictBenchmark.measure(options, [size], progress).results
        continue
      }
      progress.end()
      print("left out: evicting half of \(size.entries) files would take \(Int(seconds)) s more\n")
    }
    progress.end()
    show("least work", directories, \.ratioToLeast, by: "entries", \.entries) { "\($0)" }
  }

  /// The sizes of directories of which half is evicted. A million takes minutes a round.
  private static func evictions(_ options: DiskOptions) -> [(entries: Int, rounds: Int)] {
    guard options.entries.isEmpty else { return options.entries.map { ($0, options.rounds) } }
    return [(100_000, min(options.rounds, 3)), (1_000_000, 1)]
  }

  /// Prints a table at once, because the next one takes minutes.
  private static func show(
    _ baseline: String, _ results: [DiskResult], _ ratio: (DiskResult) -> Double,
    by title: String, _ size: (DiskResult) -> Int, _ heading: (Int) -> String
  ) {
    print("time, and ratio to \(baseline)\n")
    print(table(results, ratio, by: title, size, heading: heading))
    fflush(nil)
  }

  /// Returns a table with one row for each name, in the order of the results, and one column for
  /// each size.
  private static func table(
    _ results: [DiskResult], _ ratio: (DiskResult) -> Double, by title: String,
    _ size: (DiskResult) -> Int, heading: (Int) -> String
  ) -> String {
    let names = results.map(\.name).reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    let sizes = Set(results.map(size)).sorted()
    var lines = [
      row([title] + sizes.map(heading)), "|---|" + sizes.map { _ in "--:|" }.joined(),
    ]
    for name in names {
      let cells = sizes.map { column in
        results.first { $0.name == name && size($0) == column }
          .map { "\(time($0.nanoseconds)) · \(ratio($0).rounded(to: 2))" } ?? ""
      }
      lines.append(row([name] + cells))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  private static func time(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<1_000_000: "\((nanoseconds / 1000).rounded(to: 1)) µs"
    case ..<1_000_000_000: "\((nanoseconds / 1_000_000).rounded(to: 1)) ms"
    default: "\((nanoseconds / 1_000_000_000).rounded(to: 2)) s"
    }
  }

  /// The processor, the number of cores, and the kernel. See: man 5 proc, man 2 uname.
  private static var machine: String {
    var name = utsname()
    guard unsafe uname(&name) == 0 else { return "Linux" }
    let kernel = unsafe withUnsafePointer(to: &name.release) {
      unsafe $0.withMemoryRebound(to: CChar.self, capacity: 65) { unsafe String(cString: $0) }
    }
    return "\(processor), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, Linux \(kernel)"
  }

  private static var processor: String {
    guard let file = unsafe fopen("/proc/cpuinfo", "r") else { return "processor unknown" }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    while unsafe fgets(&line, 512, file) != nil {
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      let text = String(decoding: bytes, as: UTF8.self)
      if text.hasPrefix("model name"), let colon = text.firstIndex(of: ":") {
        return String(text[text.index(after: colon)...].drop { $0 == " " })
      }
    }
    return "processor unknown"
  }

  /// The date, computed from the days since 1970. Source: Howard Hinnant, "chrono-compatible
  /// low-level date algorithms", civil_from_days.
  private static var date: String {
    let days = Glibc.time(nil) / 86_400 + 719_468
    let era = days / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let place = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * place + 2) / 5 + 1
    let month = place < 10 ? place + 3 : place - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
  }
}
