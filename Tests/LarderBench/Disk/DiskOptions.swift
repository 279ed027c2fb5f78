/// The options of the benchmarks of the disk tier.
struct DiskOptions {
  static let usage = """
    usage: LarderBench disk|behind|cold|scan|evict|open|table [--json] [--directory DIR]
                                                              [--rounds N] [--entries N]…
                                                              [--bytes SIZE]… [--threads N]…
                                                              [--only NAME]…

      --directory DIR   where the files are made and removed again; the default is $TMPDIR or /tmp
      --rounds N        rounds per figure, of which the median counts; the default is 5
      --entries N       entries; the default depends on the benchmark
      --bytes SIZE      bytes of a value, such as 1000, 4K or 24MiB
      --threads N       threads that read at once (disk)
      --only NAME       leaves out all rows but those of a name; store-durable and
                        store-over-durable are left out otherwise
      --typical         of each round the median piece counts, for a machine with other work to do
      --latency         reads and stores during a scan, an eviction and a removal of all (evict)
      --by-value        the entries of the least worth go, by `.leastValuable` (evict)
      --cap SIZE        the most bytes of values in one directory; larger values get fewer entries;
                        the default is 256MiB

      By default disk takes about 5 minutes, scan 2, evict 15, open 2 and table 8. The time that is
      left is shown on a terminal.
    """

  var isJSON = false
  var isTypical = false
  var isByValue = false
  var directory: String?
  var rounds = 5
  var entries: [Int] = []
  var byteCounts: [Int] = []
  var threads: [Int] = []
  var only: [String] = []
  /// The largest number of bytes of values, because 10,000 values of 1 MiB would not stay in the
  /// page cache of an ordinary machine.
  var cap = 256 << 20

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--typical": isTypical = true
      case "--by-value": isByValue = true
      case "--directory": directory = rest.popFirst()
      case "--rounds": rounds = try ByteSize.parse(rest.popFirst())
      case "--entries": entries.append(try ByteSize.parse(rest.popFirst()))
      case "--bytes": byteCounts.append(try ByteSize.parse(rest.popFirst()))
      case "--threads": threads.append(try ByteSize.parse(rest.popFirst()))
      case "--only": only.append(rest.popFirst() ?? "")
      case "--cap": cap = try ByteSize.parse(rest.popFirst())
      default: throw UsageError()
      }
    }
    guard rounds > 0, !entries.contains(0), !threads.contains(0) else { throw UsageError() }
  }

  /// Whether one of some rows is to be measured.
  func wants(_ names: String...) -> Bool {
    only.isEmpty || names.contains { only.contains($0) }
  }
}
