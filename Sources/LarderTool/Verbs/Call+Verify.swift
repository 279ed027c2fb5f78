import Larder

extension Call {
  /// Checks every entry against its hash, and removes the damaged ones if asked to.
  func verify() throws(Failure) -> ExitCode {
    let repairs = arguments.has(.repair)
    let cache = try repairs ? openForWriting() : openForReading()
    let found = try onCache { () throws(CacheError) in
      let found = try cache.verify(repairs: repairs)
      try cache.close()
      return found
    }
    if isJSON {
      try console.print(found.json(repairs: repairs))
    } else {
      try console.print(found.text(repairs: repairs))
    }
    if found.removal.failed > 0 {
      console.say("what is damaged could not all be removed; check owner and mode")
    }
    return found.exitCode
  }
}

extension Verification {
  /// Damage that remains comes before what could not be read, and that before other versions of the
  /// format.
  var exitCode: ExitCode {
    if damaged.count > removal.removed { return .finding }
    if !unreadable.isEmpty { return .inputOutput }
    return otherVersions.isEmpty ? .fine : .notACache
  }

  /// The object for scripts.
  func json(repairs: Bool) -> JSONValue {
    let report: [(String, JSONValue)] = [
      ("checked", JSONValue(checkedCount)), ("unverifiable", JSONValue(unverifiableCount)),
      ("damaged", .array(damaged.map(JSONValue.string))),
      ("unreadable", .array(unreadable.map(JSONValue.string))),
      ("other_versions", .array(otherVersions.map(JSONValue.string))),
    ]
    guard repairs else {
      return .object(([("schema", 1)] + report).map { JSONValue.Member(name: $0.0, value: $0.1) })
    }
    return RemovalTally(removal).json(extra: report)
  }

  /// The lines for people: what is wrong first, and the sum.
  func text(repairs: Bool) -> String {
    var text = ""
    for name in damaged { text += "damaged        \(name)\n" }
    for name in unreadable { text += "unreadable     \(name)\n" }
    for name in otherVersions { text += "other version  \(name)\n" }
    text += "checked \(checkedCount) entries: \(checkedCount - damaged.count) sound"
    text += ", \(damaged.count) damaged"
    if unverifiableCount > 0 { text += "; \(unverifiableCount) more carry no hash" }
    text += "\n"
    if repairs { text += RemovalTally(removal).text }
    return text
  }
}
