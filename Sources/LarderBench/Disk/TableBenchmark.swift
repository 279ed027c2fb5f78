import Glibc

/// The benchmarks of the disk tier as the table of the documentation: the time of each operation
/// and its ratio to raw system calls, with the machine and the date.
enum TableBenchmark {
  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    let values = try DiskBenchmark.measure(options).results.filter { $0.threads == 1 }
    print("\(machine), \(date): time and ratio to raw system calls\n")
    print(table(values, by: "a value of", { $0.byteCount ?? 0 }, heading: size))
    // Flushed, because the second half takes minutes.
    fflush(nil)
    var directories = try ScanBenchmark.measure(options).results
    directories += try EvictBenchmark.measure(options).results
    directories += try OpenBenchmark.measure(options).results
    print(table(directories, by: "entries", \.entries) { "\($0)" })
  }

  /// Returns a table with one row for each name, in the order of the results, and one column for
  /// each size.
  private static func table(
    _ results: [DiskResult], by title: String, _ size: (DiskResult) -> Int,
    heading: (Int) -> String
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
        results.first { $0.name == name && size($0) == column }.map(cell) ?? ""
      }
      lines.append(row([name] + cells))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  private static func cell(_ result: DiskResult) -> String {
    "\(time(result.nanoseconds)) · \(result.ratio.rounded(to: 2))"
  }

  private static func size(_ byteCount: Int) -> String {
    switch byteCount {
    case let count where count >= 1 << 20: "\(count >> 20) MiB"
    case let count where count >= 1 << 10: "\(count >> 10) KiB"
    case let count: "\(count) B"
    }
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
