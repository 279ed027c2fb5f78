import Glibc

let usage = """
  usage: LarderBench BENCHMARK [OPTION]…  (LARDER_EVERYTHING=1 swift run -c release LarderBench …)

    replay   drives a cache from a trace file and counts hits and evictions
    digest   MD5 and XXH64
    index    the index of the directory: time per operation and bytes per entry
    memory   the memory tier beside a locked dictionary and a list of node objects
    disk     reads, misses, stores and removals beside raw system calls
    scan     the scan of a directory beside raw system calls
    evict    the eviction of half of a directory beside raw system calls
    open     from nothing to the first value
    holds    the longest hold of a lock, per operation; wants LARDER_INSTRUMENT=HOLDS in the build
    table    disk, scan, evict and open as the guide Measuring shows them
    repeat   one operation so many times, for tools that count
    shell    a cache that does what its input says, for scripts that change things around it
    calls    system calls of misses and of modes that only read, for a tracer to count
    stress   many processes and threads on one directory, with an oracle in each value
    crash    writes up to a power cut, and judges what a state of the disk serves
    drive    does what a script tells it, line by line
    front-stress  many threads on both tiers, single flight and a memory cache, with an oracle
    stream   a value of 2 GiB stored and read in pieces, and the most memory that it took
    behind   a burst of stores that other threads write, beside stores that write themselves
    cold     values of several sizes read through both tiers while memory does not have them
    pressure a cache under real memory pressure, as it gives memory up and grows again
    await    asynchronous calls beside the synchronous ones
    loads    loads that several processes share: loads a key, waits, kills, and what they cost
    other-calls  the two ways to store beside each other, and io_uring beside unlink
    http     a hit of the HTTP cache beside Cache; and requests at once, for a script

  By default digest and replay take seconds, index, stream and behind half a minute, cold, scan
  and open two minutes, disk five, table eight, memory, evict and holds a quarter of an hour; the
  others as long as they are told to. On a terminal the time that is left is shown.
  """

func fail(_ message: String, _ status: Int32) -> Never {
  let text = Array((message + "\n").utf8)
  unsafe write(STDERR_FILENO, text, text.count)
  exit(status)
}

/// Returns the usage of a benchmark; the program's if there is none of the name.
func usage(of benchmark: String?) -> String {
  switch benchmark {
  case "replay": ReplayBenchmark.usage
  case "digest": DigestBenchmark.usage
  case "index": IndexBenchmark.usage
  case "memory": MemoryBenchmark.usage
  case "holds": HoldsBenchmark.usage
  case "behind", "cold", "disk", "scan", "evict", "open", "table": DiskOptions.usage
  case "repeat": RepeatBenchmark.usage
  case "calls": CallsBenchmark.usage
  case "shell": ShellBenchmark.usage
  case "stress": StressBenchmark.usage
  case "crash": CrashBenchmark.usage
  case "drive": DriveBenchmark.usage
  case "front-stress": FrontStressBenchmark.usage
  case "stream": StreamBenchmark.usage
  case "await": AwaitBenchmark.usage
  case "loads": LoadsBenchmark.usage
  case "pressure": PressureBenchmark.usage
  case "other-calls": OtherCallsBenchmark.usage
  case "http": HTTPBenchmark.usage
  default: usage
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
// Before a benchmark runs, because some would take it for a directory.
if !Set(["--help", "-h"]).isDisjoint(with: arguments) {
  print(usage(of: arguments.first))
  exit(0)
}
do {
  switch arguments.first {
  case "replay": try ReplayBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "digest": DigestBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "index": IndexBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "memory": MemoryBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "disk": try DiskBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "scan": try ScanBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "evict": try EvictBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "open": try OpenBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "holds": try HoldsBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "table": try TableBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "repeat": try RepeatBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "calls": try CallsBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "shell": try await ShellBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "stress": try StressBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "crash": try CrashBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "drive": try DriveBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "front-stress": try FrontStressBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "stream": try StreamBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "behind": try BehindBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "cold": try ColdBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "await": try await AwaitBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "loads": try await LoadsBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "pressure": try PressureBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "other-calls": try OtherCallsBenchmark.run(arguments: Array(arguments.dropFirst()))
  case "http": try HTTPBenchmark.run(arguments: Array(arguments.dropFirst()))
  default: fail(usage, 2)
  }
} catch is UsageError {
  fail(usage(of: arguments.first), 2)
} catch {
  fail("LarderBench: \(error)", 4)
}
