import Larder

/// What the caller asked of a stress run.
struct StressOptions {
  /// What a process does.
  enum Role: String {
    /// Starts the workers, watches the directory and judges.
    case judge
    /// Does what the threads of a run do, until its time is over, and reports.
    case worker
    /// The same until it is killed; says at once what it finds wrong.
    case writer
    /// A writer that also removes everything now and again.
    case clearer
    /// Reads and checks until it is killed.
    case reader
    /// Opens the directory after the others are gone and judges what they left.
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
  /// The same directory through another mount, as a second machine has it; half of the processes
  /// work there.
  var other: String?
  /// How far the clocks of those processes are ahead, in seconds.
  var shift = 0
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
      case "--shift": shift = try ByteSize.parse(rest.popFirst())
      case "--role":
        guard let role = rest.popFirst().flatMap(Role.init) else { throw UsageError() }
        self.role = role
      default: throw UsageError()
      }
    }
    guard processes > 0, threads > 0, limit >= 1 << 16 else { throw UsageError() }
    if role != .judge && directory == nil { throw UsageError() }
  }

  /// The arguments that make the n-th child of a judge.
  func childArguments(_ number: Int, in directory: String) -> [String] {
    var common = [
      "stress", "--role", "worker", "--threads", "\(threads)", "--seconds", "\(seconds)",
      "--limit", "\(limit)", "--number", "\(number)",
    ]
    if let writeBehind { common += ["--write-behind", "\(writeBehind)"] }
    guard let other else { return common + ["--directory", directory] }
    // Each is told both paths, so that it knows that it shares a file system with other machines.
    return number.isMultiple(of: 2)
      ? common + ["--directory", other, "--other", directory, "--shift", "\(shift)"]
      : common + ["--directory", directory, "--other", other]
  }

  /// The most bytes that may be left when all is done. Machines that hear of each other's stores
  /// late may stop a little above the limit.
  var limitAtRest: Int { other == nil ? limit : limit + limit / 10 }

  /// The clock of this process's cache.
  var clock: WallClock {
    let shift = Int64(shift)
    if shift == 0 { return .system }
    return WallClock { WallClock.system.now().adding(seconds: shift) }
  }
}
