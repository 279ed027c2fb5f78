import Larder

extension Verb {
  /// `larder verify`
  static let verify = Verb(
    name: "verify",
    summary: "Read every entry and check it against its hash",
    synonyms: ["check", "fsck", "validate", "scrub"],
    operands: [.directory],
    ownOptions: [.repair],
    notes: [
      """
      Damage gives status 1, and 0 once a repair has removed all of it. An entry of another \
      version of the format gives status 3 and is never removed.
      """
    ],
    run: { call throws(Failure) in try call.verify() })
}

extension Option {
  /// The flag to remove damaged entries.
  static let repair = Option("repair", nil, .flag, "Remove what is damaged")
}

extension Call {
  /// Checks every entry against its hash, and removes the damaged ones if asked to.
  func verify() throws(Failure) -> ExitCode {
    let repairs = arguments.has(.repair)
    if repairs { try requireRemovable() }
    let cache = try repairs ? openForWriting() : openForReading()
    var found = try verification(of: cache, repairs: false)
    // Of what a repair removes, nothing can be told afterwards.
    var entries: [String: DiskEntry] = [:]
    for text in found.damaged {
      guard let name = EntryName(Array(text.utf8)) else { continue }
      entries[text] = try onCache { () throws(CacheError) in try cache.entry(named: name) }
    }
    if repairs, !found.damaged.isEmpty { found = try verification(of: cache, repairs: true) }
    try onCache { () throws(CacheError) in try cache.close() }
    let isFixture = found.unverifiableCount > 0 ? try proof().isFixture : false
    if isJSON {
      try console.print(found.json(repairs: repairs, damaged: entries))
    } else {
      try console.print(found.text(repairs: repairs, style: console.style, damaged: entries))
      if found.damaged.count > found.removal.removed {
        suggest("verify", "--repair", "removes what is damaged")
      }
    }
    if isFixture {
      console.say("the hashes of a fixture are in its manifest: see larder fixture check")
    }
    if found.removal.failed > 0 {
      console.say("what is damaged could not all be removed; check owner and mode")
    }
    return found.exitCode
  }

  /// Checks every entry, and shows the progress on a terminal.
  func verification(of cache: DiskCache, repairs: Bool) throws(Failure) -> Verification {
    let progress = ProgressLine("checked", console)
    defer { progress.finish() }
    return try onCache { () throws(CacheError) in
      try cache.verify(repairs: repairs, reporting: progress.update)
    }
  }
}

extension Verification {
  /// The exit status. Remaining damage takes precedence over unreadable entries, and these over
  /// other versions of the format.
  var exitCode: ExitCode {
    if damaged.count > removal.removed { return .finding }
    if !unreadable.isEmpty { return .inputOutput }
    return otherVersions.isEmpty ? .fine : .notACache
  }

  /// Returns the object for scripts.
  ///
  /// - Parameter entries: What is known of the damaged, by their names.
  func json(repairs: Bool, damaged entries: [String: DiskEntry]) -> JSONValue {
    let moved = damaged.filter { entries[$0]?.isMoved ?? false }
    let report: [(String, JSONValue)] = [
      ("checked", JSONValue(checkedCount)), ("unverifiable", JSONValue(unverifiableCount)),
      ("damaged", .array(damaged.map(JSONValue.string))),
      ("of_another_key", .array(moved.map(JSONValue.string))),
      ("unreadable", .array(unreadable.map(JSONValue.string))),
      ("other_versions", .array(otherVersions.map(JSONValue.string))),
    ]
    guard repairs else {
      return .object(([("schema", 1)] + report).map { JSONValue.Member(name: $0.0, value: $0.1) })
    }
    return RemovalTally(removal).json(extra: report)
  }

  /// Returns the lines for people: the problems, then the totals.
  ///
  /// - Parameter entries: What is known of the damaged, by their names.
  func text(repairs: Bool, style: TextStyle, damaged entries: [String: DiskEntry]) -> String {
    var text = ""
    for name in damaged {
      let isMoved = entries[name]?.isMoved ?? false
      text += style.set(isMoved ? "of another key " : "damaged        ", .red) + name
      if let entry = entries[name] {
        text += "  \(ByteCount(Int64(entry.byteCount)))  \(entry.keyText(style))"
      }
      text += "\n"
    }
    for name in unreadable { text += style.set("unreadable", .yellow) + "     \(name)\n" }
    for name in otherVersions { text += style.set("other version", .yellow) + "  \(name)\n" }
    text += "checked \(checkedCount.counted("entry")): "
    text += style.set("\((checkedCount - damaged.count).grouped) sound", .green)
    text += ", " + style.set("\(damaged.count.grouped) damaged", damaged.isEmpty ? .plain : .red)
    if unverifiableCount > 0 {
      let verb = unverifiableCount == 1 ? "carries" : "carry"
      text += "; \(unverifiableCount.grouped) more \(verb) no hash"
    }
    text += "\n"
    if repairs { text += RemovalTally(removal).text }
    return text
  }
}

extension DiskEntry {
  /// Whether the file has another name than that of the key which it records.
  fileprivate var isMoved: Bool {
    key.map { !name.hasPrefix(EntryName($0).description) } ?? false
  }
}
