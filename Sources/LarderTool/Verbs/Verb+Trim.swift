import Larder
import LarderSystem

extension Verb {
  /// `larder trim`
  static let trim = Verb(
    name: "trim",
    summary: "Remove what has expired, then the least recently used, down to a limit",
    synonyms: ["shrink", "limit", "reduce"],
    operands: [.directory],
    ownOptions: [.trimToSize, .trimToCount, .trimToAge, .order, .force, .dryRun, .listsNames],
    rules: [
      .exactlyOne(of: [.trimToSize, .trimToCount, .trimToAge]), .nothingNeedsForce,
      .namesNeedDryRun,
    ],
    notes: [namesNote, orderNote],
    run: { call throws(Failure) in try call.trim() })

  /// `larder expire`
  static let expire = Verb(
    name: "expire",
    summary: "Remove what has expired",
    synonyms: ["sweep", "gc", "clean", "prune"],
    operands: [.directory],
    ownOptions: [.dryRun, .listsNames],
    rules: [.namesNeedDryRun],
    notes: [namesNote],
    run: { call throws(Failure) in try call.expire() })

  /// `larder clear`
  static let clear = Verb(
    name: "clear",
    summary: "Remove every entry; what is not an entry stays",
    synonyms: ["purge", "empty", "flush", "wipe", "reset"],
    operands: [.directory],
    ownOptions: [.force, .dryRun, .listsNames],
    rules: [.clearNeedsForce, .namesNeedDryRun],
    notes: [namesNote],
    run: { call throws(Failure) in try call.clear() })

  private static let namesNote = """
    With --dry-run --names, the names that would go are printed, one a line in the order of \
    removal, and the sum on stderr; xargs -r larder rm DIR --name takes them. The object of --json \
    has them as "names".
    """
}

extension Verb {
  /// The note on `--order`.
  static let orderNote = """
    The directory does not say which order of eviction its programs have set: give --order value \
    if they evict the least valuable.
    """
}

extension Option {
  /// The order of eviction.
  static let order = Option(
    "order", nil, .choice("ORDER", ["used", "value"]),
    "What goes first: used (the least recently) or value (the least valuable)")
  /// The limit on the bytes of all values together.
  static let trimToSize = Option("to", nil, .size, "Leave at most so many bytes")
  /// The limit on the number of entries.
  static let trimToCount = Option("count", nil, .count, "Leave at most so many entries")
  /// The limit on the time since the last access.
  static let trimToAge = Option(
    "age", nil, .duration, "Leave only what was used within so much time")
  /// The flag to print the names of what is listed, or of what a dry run would remove.
  static let listsNames = Option(
    "names", nil, .flag, "Print the names alone, one a line")
  /// The flag that confirms the removal.
  static let force = Option("force", nil, .flag, "Confirm that every entry shall go")
}

extension Rule {
  /// The rule that prevents a user from emptying a cache by mistake.
  static let clearNeedsForce = Rule(
    "removes every entry, so it needs --force (or --dry-run, to look first)",
    usage: "--force"
  ) { $0.has(.force) || $0.has(.dryRun) }
}

extension Rule {
  /// The rule that the same goes for a limit of nothing.
  static let nothingNeedsForce = Rule(
    "a limit of 0 removes every entry, so it needs --force (or --dry-run, to look first)"
  ) {
    let isNothing =
      $0.size(.trimToSize)?.count == 0 || $0.count(.trimToCount) == 0
      || $0.duration(.trimToAge)?.seconds == 0
    return !isNothing || $0.has(.force) || $0.has(.dryRun)
  }

  /// The rule that names are listed before a removal, not after it.
  static let namesNeedDryRun = Rule("--names needs --dry-run") {
    !$0.has(.listsNames) || $0.has(.dryRun)
  }
}

extension Call {
  /// Removes all expired entries.
  func expire() throws(Failure) -> ExitCode { try trim(to: .living) }

  /// Removes every entry.
  func clear() throws(Failure) -> ExitCode { try trim(to: .nothing) }

  /// Removes every entry, and shows the progress on a terminal.
  private func removeAll() throws(Failure) -> RemovalTally {
    let cache = try openForWriting()
    return try onCache { () throws(CacheError) in
      let progress = ProgressLine("removed", console)
      defer { progress.finish() }
      let total = console.showsProgress ? try cache.nameCount(reporting: progress.update) : 0
      let removal = try cache.removeAllInBackground()
      while console.showsProgress, !removal.isFinished {
        progress.update(removal.result.removed + removal.result.failed, total)
        CommandProcess.wait(.milliseconds(20))
      }
      let result = try removal.wait()
      try cache.close()
      return RemovalTally(result)
    }
  }

  /// Makes the plan of a trim, on a copy of the index, by a cache that only reads: the end of the
  /// first scan of one that writes removes what has expired.
  private func preview(_ goal: TrimGoal) throws(Failure) -> RemovalTally {
    let cache = try openForReading()
    let progress = ProgressLine("removed", console) { cache.trimProgress(of: nil) }
    defer { progress.finish() }
    return try onCache { () throws(CacheError) in
      let (removal, names) = try cache.preview(goal)
      try cache.close()
      var tally = RemovalTally(removal, isDryRun: true)
      if arguments.has(.listsNames) { tally.names = names.map(\.description) }
      return tally
    }
  }

  /// Removes what the plan of a trim counts, and shows the progress on a terminal.
  private func remove(to goal: TrimGoal, planned count: Int) throws(Failure) -> RemovalTally {
    let cache = try openForWriting()
    return try onCache { () throws(CacheError) in
      let progress = ProgressLine("removed", console) { cache.trimProgress(of: count) }
      defer { progress.finish() }
      let removal = try cache.trim(to: goal)
      let isOtherOrder = goesByValue && !cache.engine.evictsByValue
      try cache.close()
      progress.finish()
      if isOtherOrder {
        console.say("the kernel tells of no changes here, so the least recently used went first")
      }
      return RemovalTally(removal)
    }
  }

  /// Removes expired entries, and then the least recently used or valuable, down to a limit.
  func trim() throws(Failure) -> ExitCode {
    if let size = arguments.size(.trimToSize) { return try trim(to: .size(Int(size.count))) }
    if let count = arguments.count(.trimToCount) { return try trim(to: .count(count)) }
    guard let age = arguments.duration(.trimToAge) else { throw .usage("a limit is missing") }
    return try trim(to: .age(.seconds(age.seconds)))
  }

  /// Trims the cache to a goal. In a dry run it only reports what would be removed.
  private func trim(to goal: TrimGoal) throws(Failure) -> ExitCode {
    let isDryRun = arguments.has(.dryRun)
    try requireRemovable()
    if isDryRun {
      // What refuses the removal refuses its dry run.
      let cache = try openForWriting()
      try onCache { () throws(CacheError) in try cache.close() }
    }
    var tally = RemovalTally()
    if isDryRun || console.showsProgress && goal != .nothing { tally = try preview(goal) }
    if !isDryRun {
      tally = try goal == .nothing ? removeAll() : remove(to: goal, planned: tally.removed)
    }
    if isJSON {
      try console.print(tally.json())
    } else if let names = tally.names {
      try console.print(names)
      console.talk(tally.text)
    } else {
      try console.print(tally.text)
    }
    guard tally.failed > 0 else { return .fine }
    // A trim ends at the first one if the directory refuses.
    let hasEnded = goal != .nothing && tally.removed == 0 && tally.failed == 1
    console.say(
      "\(tally.failed.counted("entry")) could not be removed"
        + "\(hasEnded ? ", and no other was tried" : ""); check owner and mode")
    return .inputOutput
  }
}
