import Larder

extension Verb {
  /// `larder demo`
  static let demo = Verb(
    name: "demo",
    summary: "Show the cache at work in a directory of its own",
    synonyms: ["example", "try", "tour"],
    operands: [],
    run: { call throws(Failure) in try call.demo() })
}

extension Call {
  /// Runs the demo and prints its report.
  func demo() throws(Failure) -> ExitCode {
    var demo = try Demo(DemoFiles.gather())
    var entries: [DiskEntry] = []
    do throws(CacheError) {
      try demo.run()
      // Listed before the close. The report is printed after it, when everything is on disk.
      entries = try demo.cache.entries()
      try demo.cache.close()
    } catch {
      throw Failure(error, directory: Array(demo.figures.directory.utf8))
    }
    if isJSON {
      try console.print(demo.figures.json)
    } else {
      let report = DemoReport(
        figures: demo.figures, entries: entries, program: program, style: console.style)
      try console.print(report.text)
    }
    return .fine
  }

  /// The command as the user typed it.
  private var program: String {
    String(decoding: ProcessArguments.raw.first ?? Array("larder".utf8), as: UTF8.self)
  }
}
