import Larder

extension Call {
  /// Shows what a walk through the directory counts.
  func info() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let survey = try onCache { () throws(CacheError) in try cache.survey() }
    if cache.statistics.isDirectoryUnsafe {
      console.say("others own the directory or can write to it: what they plant would be served")
    }
    if isJSON {
      try console.print(survey.json)
    } else {
      try console.print(survey.text(at: WallClock.system.now(), directory: cache.directory))
    }
    return .fine
  }
}

extension DirectorySurvey {
  /// The object for scripts.
  var json: JSONValue {
    [
      "schema": 1, "entries": JSONValue(entryCount), "bytes": JSONValue(byteCount),
      "allocated": JSONValue(allocatedByteCount), "expired": JSONValue(expiredCount),
      // Nothing was read, so nothing is known of damage.
      "damaged": nil, "foreign": JSONValue(foreignCount),
      "temporaries": JSONValue(temporaryCount), "oldest_access": .time(oldestAccess),
      "newest_access": .time(newestAccess), "next_expiry": .time(nextExpiry),
    ]
  }

  /// The lines for people.
  func text(at now: Timestamp, directory: String) -> String {
    var lines = [
      ("directory", Array(directory.utf8).escapedForDisplay),
      ("entries", "\(entryCount)"),
      ("bytes", "\(byteCount) (\(ByteCount(Int64(byteCount))))"),
      ("on disk", "\(allocatedByteCount) (\(ByteCount(Int64(allocatedByteCount))))"),
      ("expired", "\(expiredCount)"),
    ]
    if let oldestAccess { lines.append(("oldest use", oldestAccess.relativeText(at: now))) }
    if let newestAccess { lines.append(("newest use", newestAccess.relativeText(at: now))) }
    if let nextExpiry { lines.append(("next expiry", nextExpiry.relativeText(at: now))) }
    if temporaryCount > 0 { lines.append(("unfinished", "\(temporaryCount) writes")) }
    if foreignCount > 0 { lines.append(("foreign", "\(foreignCount), left alone")) }
    let width = lines.map(\.0.count).max() ?? 0
    return lines.map { $0.0.padded(toWidth: width + 2) + $0.1 + "\n" }.joined()
  }
}
