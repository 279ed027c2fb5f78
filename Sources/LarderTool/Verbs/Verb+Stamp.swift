import Larder

extension Verb {
  /// `larder stamp`
  static let stamp = Verb(
    name: "stamp",
    summary: "Make files that were edited or made by hand valid entries",
    synonyms: ["bless", "touch", "renew", "sign"],
    operands: [
      .directory,
      Operand(
        role: .name, arity: .any, placeholder: "FILE",
        help: "Names of entries in DIR, beginnings of them, or paths (default: made by hand)"),
    ],
    ownOptions: [.stampExpires],
    notes: [
      """
      Without FILE, all that carry no hash: made by hand, or copied without their attributes. They \
      keep the expiry that they have, and what has expired is left out, unless --expires is given. \
      What a cache has stored and was edited since may as well be damaged, and is left as it is \
      unless FILE names it.
      """,
      """
      An editor that makes a new file, such as sed -i, drops the attributes: the key is unknown \
      from then on, and the lifetime is 7 days. larder put keeps the key.
      """,
    ],
    run: { call throws(Failure) in try call.stamp() })
}

extension Option {
  /// The lifetime, counted from now.
  static let stampExpires = Option(
    "expires", nil, .expiration,
    "How long they stay valid, or never (default: the lifetime on record, or else 7d)")
}

extension Call {
  /// Gives files that were edited or made by hand the stamps and attribute of entries.
  func stamp() throws(Failure) -> ExitCode {
    let cache = try openForWriting()
    let expiration = arguments.expiration(.stampExpires)
    let given = try stampNames(in: cache)?.map { (name: $0, expiration: expiration) }
    let files = if let given { given } else { try filesMadeByHand(in: cache, expiration) }
    var tally = StampTally()
    for (name, expiration) in files {
      do throws(CacheError) {
        if let entry = EntryName(Array(name.utf8)), try cache.look(at: entry)?.isOfOtherName == true
        {
          tally.missing += 1
          console.say("\(name) records another key, so it was renamed; larder why DIR \(name)")
          continue
        }
        tally.add(try cache.stamp(name, expiration: expiration), name, console)
      } catch {
        tally.failed += 1
        console.say(error.description)
      }
    }
    try onCache { () throws(CacheError) in try cache.close() }
    if isJSON {
      try console.print(tally.json)
    } else {
      try console.print("stamped \(tally.stamped) \(tally.stamped == 1 ? "entry" : "entries")\n")
    }
    return tally.exitCode
  }

  /// Returns the names of files without an attribute, each with the expiration that it gets: the
  /// given one for all, or else its own, of what has not expired.
  private func filesMadeByHand(
    in cache: DiskCache, _ given: Expiration?
  ) throws(Failure) -> [(name: String, expiration: Expiration?)] {
    try requireRemovable()
    return try onCache { () throws(CacheError) in
      let location = cache.engine.location
      guard try attempt("stamp", at: cache.directory, location.handle.descriptor.holdsAttributes())
      else {
        throw CacheError(.extendedDataUnsupported, operation: "stamp", path: cache.directory)
      }
      var files: [(name: String, expiration: Expiration?)] = []
      var (expiredCount, emptyCount) = (0, 0)
      for entry in try cache.entries() {
        guard let name = EntryName(Array(entry.name.utf8)) else { continue }
        let finding = try cache.look(at: name, isChecking: true)?.finding
        if finding == .damaged, entry.byteCount == 0, entry.lifetime == nil { emptyCount += 1 }
        guard finding == .unverifiable else { continue }
        if given == nil, entry.isExpired(at: now) {
          expiredCount += 1
        } else {
          files.append((entry.name, given ?? entry.expiry.map(Expiration.date) ?? .never))
        }
      }
      if expiredCount > 0 {
        console.say("left out \(expiredCount.grouped) expired; --expires or their names take them")
      }
      if emptyCount > 0 {
        console.say("left out \(emptyCount.grouped) empty; their names take them")
      }
      return files
    }
  }

  /// Returns the names on the command line; nil if there are none. Throws if one is no name of an
  /// entry and no beginning of one.
  private func stampNames(in cache: DiskCache) throws(Failure) -> [String]? {
    var names: [String] = []
    for argument in arguments[.name] {
      let operand = try withoutDirectory(argument, in: cache)
      guard let name = try name(beginningWith: operand, in: cache) ?? EntryName(operand) else {
        let shown = operand.quotedForDisplay
        throw .usage("\(shown) is no name of an entry; give names as they stand in DIR")
      }
      names.append(name.description)
    }
    return names.isEmpty ? nil : names
  }
}

/// The result of stamping several files.
private struct StampTally {
  var stamped = 0
  var missing = 0
  var otherVersions = 0
  var failed = 0

  mutating func add(_ outcome: StampOutcome, _ name: String, _ console: Console) {
    switch outcome {
    case .stamped: stamped += 1
    case .otherVersion:
      otherVersions += 1
      console.say("\(name) was written by another version of the format and stays as it is")
    default:
      missing += 1
      console.say("\(name) is not there, or is not a file that can be an entry")
    }
  }

  var json: JSONValue {
    [
      "schema": 1, "stamped": JSONValue(stamped), "missing": JSONValue(missing),
      "other_versions": JSONValue(otherVersions), "failed": JSONValue(failed),
    ]
  }

  var exitCode: ExitCode {
    if failed > 0 { return .inputOutput }
    if otherVersions > 0 { return .notACache }
    return missing > 0 ? .finding : .fine
  }
}
