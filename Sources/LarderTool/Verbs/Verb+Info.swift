import Larder

extension Verb {
  /// `larder info`
  static let info = Verb(
    name: "info",
    summary: "Show totals: entries, bytes, oldest and newest use, next expiry",
    synonyms: ["stat", "stats", "status", "size", "du", "count"],
    operands: [.directory],
    run: { call throws(Failure) in try call.info() })
}

extension Call {
  /// Shows the totals of the directory.
  func info() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let progress = ProgressLine("counted", console)
    defer { progress.finish() }
    let survey = try onCache { () throws(CacheError) in
      try cache.survey(reporting: progress.update)
    }
    progress.finish()
    if cache.statistics.isDirectoryUnsafe {
      console.say(
        "another user owns the directory or can write to it: files planted there would be served")
    }
    let ground = try onCache { () throws(CacheError) in try Ground(of: cache) }
    if isJSON {
      try console.print(survey.json(directory: cache.directory, on: ground))
    } else {
      let now = WallClock.system.now()
      try console.print(
        survey.text(at: now, directory: cache.directory, on: ground, style: console.style))
      suggestAfterInfo(survey)
    }
    return .fine
  }

  private func suggestAfterInfo(_ survey: DirectorySurvey) {
    if survey.entryCount == 0 { return }
    if survey.expiredCount > 0 {
      suggest("expire", "", "removes the \(survey.expiredCount.grouped) expired")
    } else {
      suggest("top", "", "the largest, and when they expire")
    }
  }
}

extension DirectorySurvey {
  /// Returns the object for scripts.
  func json(directory: String, on ground: Ground) -> JSONValue {
    let counts: [(String, JSONValue)] = [
      ("schema", 1), ("directory", .string(directory)),
      ("entries", JSONValue(entryCount)), ("bytes", JSONValue(byteCount)),
      ("allocated", JSONValue(allocatedByteCount)), ("expired", JSONValue(expiredCount)),
      // The values were not read, so damage is unknown.
      ("damaged", .null), ("foreign", JSONValue(foreignCount)),
      ("temporaries", JSONValue(temporaryCount)), ("oldest_access", .time(oldestAccess)),
      ("newest_access", .time(newestAccess)), ("next_expiry", .time(nextExpiry)),
    ]
    return .object(
      counts.map { JSONValue.Member(name: $0.0, value: $0.1) } + ground.jsonMembers)
  }

  /// Returns the lines for people.
  func text(
    at now: Timestamp, directory: String, on ground: Ground, style: TextStyle
  ) -> String {
    var lines = [
      ("directory", Array(directory.utf8).escapedForDisplay),
      ("entries", entryCount.grouped),
      ("bytes", Self.size(byteCount)),
      ("on disk", Self.size(allocatedByteCount)),
      ("expired", style.set(expiredCount.grouped, expiredCount > 0 ? .red : .green)),
    ]
    if let oldestAccess {
      lines.append(("oldest use", min(oldestAccess, now).relativeText(at: now)))
    }
    if let newestAccess {
      lines.append(("newest use", min(newestAccess, now).relativeText(at: now)))
    }
    if let nextExpiry { lines.append(("next expiry", nextExpiry.relativeText(at: now))) }
    if temporaryCount > 0 { lines.append(("unfinished", temporaryCount.counted("write"))) }
    if foreignCount > 0 { lines.append(("foreign", "\(foreignCount.grouped), left alone")) }
    lines += ground.lines
    let width = lines.map(\.0.count).max() ?? 0
    return lines.map { style.bold($0.0.padded(toWidth: width + 2)) + $0.1 + "\n" }.joined()
  }

  private static func size(_ byteCount: Int) -> String {
    "\(byteCount.grouped) (\(ByteCount(Int64(byteCount))))"
  }
}
