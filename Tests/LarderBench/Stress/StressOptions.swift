import Larder

/// The options of a stress run.
struct StressOptions {
  /// The role of a process.
  enum Role: String {
    /// The process that starts the workers, watches the directory and judges the results.
    case judge
    /// A process that runs its threads until the time is over, and reports.
    case worker
    /// A process that runs its threads until it is killed, and reports violations at once.
    case writer
    /// A writer that also removes everything sometimes.
    case clearer
    /// A process that reads and checks until it is killed.
    case reader
    /// A process that opens the directory after all other processes have ended, and judges its
    /// state.
    case checker
  }

  var role = Role.judge
  var processes = 1
  var threads = 4
  var seconds = 10
  var limit = 16 << 20
  /// The bytes that may wait to be written; none by default.
  var writeBehind: Int?
  var directory: String?
  /// The path of the same directory through another mount, as a second machine has it. Half of the
  /// processes use it.
  var other: String?
  /// The seconds by which the clocks of those processes are ahead.
  var shift = 0
  /// Whether the directory has a file system of its own. Values are whole blocks then, and the
  /// space taken there is the size of all files.
  var ownsFileSystem = false
  var number = 0
  var isJSON = false

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": isJSON = true
      case "--processes": processes = try ByteSize.parse(rest.popFirst())
      case "--threads": threads = try ByteSize.parse(rest.popFirst())
      case "--seconds": seconds = try ByteSize.parse(rest.popFirst())
      case "--limit": limit = try ByteSize.parse(rest.popFirst())
      case "--write-behind": writeBehind = try ByteSize.parse(rest.popFirst())
      case "--number": number = try ByteSize.parse(rest.popFirst())
      case "--directory": directory = rest.popFirst()
      case "--other": other = rest.popFirst()
      case "--own-file-system": ownsFileSystem = true
      case "--shift": shift = try ByteSize.parse(rest.popFirst())
      case "--role":
        guard let role = rest.popFirst().flatMap(Role.init) else { throw UsageError() }
        self.role = role
      default: throw UsageError()
      }
    }
    guard processes > 0, threads > 0, limit >= 1 << 16 else { throw UsageError() }
    if (role != .judge || ownsFileSystem) && directory == nil { throw UsageError() }
  }

  /// Returns the arguments of a judge's n-th child.
  func childArguments(_ number: Int, in directory: String) -> [String] {
    var common = [
      "stress", "--role", "worker", "--threads", "\(threads)", "--seconds", "\(seconds)",
      "--limit", "\(limit)", "--number", "\(number)",
    ]
    if ownsFileSystem { common += ["--own-file-system"] }
    if let writeBehind { common += ["--write-behind", "\(writeBehind)"] }
    guard let other else { return common + ["--directory", directory] }
    // Each child gets both paths, so that it knows that it shares the file system with other
    // machines.
    return number.isMultiple(of: 2)
      ? common + ["--directory", other, "--other", directory, "--shift", "\(shift)"]
      : common + ["--directory", directory, "--other", other]
  }

  /// The largest number of bytes that may remain at the end. Machines may stop a little above the
  /// limit, because they hear late of each other's stores.
  var limitAtRest: Int { other == nil ? limit : limit + limit / 10 }

  /// The clock of this process's cache.
  var clock: WallClock {
    let shift = Int64(shift)
    if shift == 0 { return .system }
    return WallClock { WallClock.system.now().adding(seconds: shift) }
  }
}
