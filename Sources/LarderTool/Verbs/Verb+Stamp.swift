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
        role: .file, arity: .any, placeholder: "FILE",
        help: "Names of entries in DIR (default: all)"),
    ],
    ownOptions: [.stampExpires],
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
    let given = try stampNames()
    let cache = try openForWriting()
    let names = try onCache { () throws(CacheError) in
      if let given { return given }
      return try cache.entries().map(\.name)
    }
    var tally = StampTally()
    for name in names {
      do throws(CacheError) {
        let expiration = arguments.expiration(.stampExpires)
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

  /// Returns the names on the command line; nil if there are none. Throws if one is no name of an
  /// entry.
  private func stampNames() throws(Failure) -> [String]? {
    let operands = arguments[.file]
    for operand in operands where EntryName(operand) == nil {
      let shown = operand.quotedForDisplay
      throw .usage("\(shown) is no name of an entry; give names as they stand in DIR")
    }
    return operands.isEmpty ? nil : operands.map { String(decoding: $0, as: UTF8.self) }
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
