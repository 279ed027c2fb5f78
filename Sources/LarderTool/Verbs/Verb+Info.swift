import Larder

extension Verb {
  /// `larder info`
  static let info = Verb(
    name: "info",
    summary: "Show totals: entries, bytes, oldest and newest use, next expiry",
    synonyms: ["stat", "stats", "status", "size", "du", "count"],
    operands: [.directory],
    notes: [
      """
      Unused are the entries whose last access is still that of their store, by the file's stamps \
      alone; larder list --unused shows them.
      """,
      """
      In a cache that evicts, the oldest use is about how long an entry stays that is not used. No \
      file says what was evicted before, so whether a larger limit would help, only larder top \
      shows, which looks on while the cache is in use.
      """,
    ],
    run: { call throws(Failure) in try call.readingFixture().info() })
}

extension Call {
  /// Shows the totals of the directory.
  func info() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let progress = ProgressLine("counted", console)
    defer { progress.finish() }
    let (survey, unusedCount) = try onCache { () throws(CacheError) in
      try cache.survey(reporting: progress.update)
    }
    progress.finish()
    if cache.statistics.isDirectoryUnsafe {
      console.say(
        "another user owns the directory or can write to it: files planted there would be served")
    }
    sayRefusals()
    let original = try original(of: cache)
    var ground = try onCache { () throws(CacheError) in try Ground(of: original) }
    if fixtureCopy == nil, survey.entryCount > 0 {
      ground = ground.judging(cache.engine.location.handle)
    }
    let facts = DirectoryFacts(
      directory: original.directory,
      ground: ground,
      unusedCount: fixtureCopy == nil ? unusedCount : nil, clock: clockMembers)
    if isJSON {
      try console.print(survey.json(facts))
    } else {
      try console.print(survey.text(facts, at: now, style: console.style, width: console.width))
      if fixtureCopy == nil { suggestAfterInfo(survey) }
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

/// What `info` tells beside the counts of a survey.
struct DirectoryFacts: Sendable {
  let directory: String
  let ground: Ground
  /// The entries that were not used since their store; nil if that is not known.
  let unusedCount: Int?
  /// The member with a fixture's time.
  let clock: [JSONValue.Member]
}

extension DirectorySurvey {
  /// Returns the object for scripts.
  func json(_ facts: DirectoryFacts) -> JSONValue {
    let counts: [(String, JSONValue)] = [
      ("schema", 1), ("directory", .string(facts.directory)),
      ("entries", JSONValue(entryCount)), ("bytes", JSONValue(byteCount)),
      ("allocated", JSONValue(allocatedByteCount)), ("expired", JSONValue(expiredCount)),
      ("unused", facts.unusedCount.map { JSONValue($0) } ?? .null),
      // The values were not read, so damage is unknown.
      ("damaged", .null), ("foreign", JSONValue(foreignCount)),
      ("temporaries", JSONValue(temporaryCount)), ("oldest_access", .time(oldestAccess)),
      ("newest_access", .time(newestAccess)), ("next_expiry", .time(nextExpiry)),
    ]
    return .object(
      counts.map { JSONValue.Member(name: $0.0, value: $0.1) } + facts.clock
        + facts.ground.jsonMembers)
  }

  /// Returns the lines for people.
  func text(
    _ facts: DirectoryFacts, at now: Timestamp, style: TextStyle, width: Int?
  ) -> String {
    var lines = [
      ("directory", Array(facts.directory.utf8).escapedForDisplay),
      ("entries", entryCount.grouped),
      ("bytes", Self.size(byteCount)),
      ("on disk", Self.size(allocatedByteCount)),
      ("expired", style.set(expiredCount.grouped, expiredCount > 0 ? .red : .green)),
    ]
    if let count = facts.unusedCount {
      lines.append(("unused", "\(count.grouped), not used since the store"))
    }
    if let oldestAccess {
      let time = min(oldestAccess, now).relativeText(at: now)
      let rest = expiredCount > 0 ? " after the expired" : ""
      // What was evicted before is not known here. A fixture has no limit.
      let pointer =
        facts.clock.isEmpty
        ? "; whether a larger limit would help, larder top DIR shows while the cache is in use" : ""
      lines.append(("oldest use", "\(time), of what a limit evicts next\(rest)\(pointer)"))
    }
    if let newestAccess {
      lines.append(("newest use", min(newestAccess, now).relativeText(at: now)))
    }
    if let nextExpiry { lines.append(("next expiry", nextExpiry.relativeText(at: now))) }
    if temporaryCount > 0 { lines.append(("unfinished", temporaryCount.counted("write"))) }
    if foreignCount > 0 { lines.append(("foreign", "\(foreignCount.grouped), left alone")) }
    lines += facts.ground.lines
    let indent = (lines.map(\.0.count).max() ?? 0) + 2
    return lines.map { label, content in
      let room = width.map { max(20, $0 - indent) } ?? .max
      // The path stays whole, because a path that is broken at a space cannot be copied.
      let parts = label == "directory" ? [content] : content.wrapped(toWidth: room)
      let text = parts.joined(separator: "\n" + String(repeating: " ", count: indent))
      return style.bold(label.padded(toWidth: indent)) + text + "\n"
    }.joined()
  }

  private static func size(_ byteCount: Int) -> String {
    "\(byteCount.grouped) (\(ByteCount(Int64(byteCount))))"
  }
}
