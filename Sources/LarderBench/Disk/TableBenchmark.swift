import Glibc

/// Runs the benchmarks of the disk tier and prints what the README shows: one table, with the
/// machine and the date.
enum TableBenchmark {
  /// Runs the benchmark with the arguments that follow its name.
  static func run(arguments: [String]) throws {
    let options = try DiskOptions(arguments)
    var results = try DiskBenchmark.measure(options).results
    results += try ScanBenchmark.measure(options).results
    results += try EvictBenchmark.measure(options).results
    results += try OpenBenchmark.measure(options).results
    print("\(machine), \(date):\n")
    print("| operation | bytes | entries | larder | raw calls | ratio |")
    print("|---|--:|--:|--:|--:|--:|")
    for result in results { print(row(result)) }
  }

  private static func row(_ result: DiskResult) -> String {
    let bytes = result.byteCount.map { "\($0)" } ?? ""
    return "| \(result.name) | \(bytes) | \(result.entries) | \(time(result.nanoseconds)) "
      + "| \(time(result.rawNanoseconds)) | \(result.ratio.rounded(to: 2)) |"
  }

  private static func time(_ nanoseconds: Double) -> String {
    nanoseconds < 1_000_000
      ? "\((nanoseconds / 1000).rounded(to: 1)) µs"
      : "\((nanoseconds / 1_000_000).rounded(to: 1)) ms"
  }

  /// The processor, the number of them, and the kernel. See: man 5 proc, man 2 uname.
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

  /// The day, from the days since 1970. Source: Howard Hinnant, "chrono-compatible low-level date
  /// algorithms", civil_from_days.
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
