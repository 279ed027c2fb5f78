import LarderDisk
import LarderFixtures

extension Call {
  func report(
    _ what: String, _ transfer: FixtureTransfer
  ) throws(Failure) -> ExitCode {
    let count = transfer.names.count
    if isJSON {
      let doubled = transfer.doubled.map { ("\($0)", FixtureFinding.Kind.doubled.rawValue) }
      let refused = transfer.refusals.map { ("\($0.name)", $0.reason.rawValue) }
      try console.print([
        "schema": 1, "entries": JSONValue(count),
        "refused": .array(
          (doubled + refused).map { ["name": .string($0), "reason": .string($1)] }),
      ])
    } else {
      try console.print("\(what) \(count.counted("entry"))\n")
    }
    for name in transfer.doubled {
      console.say("\(name) is left out: several lines tell of its content; record it again")
    }
    for refusal in transfer.refusals {
      console.say("\(refusal.name) is left out: \(refusal.reason.sentence)")
    }
    return transfer.refusals.isEmpty && transfer.doubled.isEmpty ? .fine : .finding
  }

  /// Says how many values a read misses because they have expired when the clock begins, as those
  /// of a cache that was packed before the fixture's start.
  func sayExpired(in manifest: FixtureManifest) {
    let start = manifest.latestAccess ?? FixtureDirectory.start
    let count = manifest.lines.values.joined().count { $0.isKept && $0.expiry <= start }
    guard count > 0 else { return }
    let verb = count == 1 ? "has" : "have"
    console.say(
      "\(count.counted("value")) \(verb) expired when the clock begins; larder fixture check names "
        + "them")
  }

  func report(_ findings: [FixtureFinding], among count: Int) throws(Failure) {
    if isJSON {
      let list = findings.map { finding -> JSONValue in
        ["name": .string(finding.name), "finding": .string(finding.kind.rawValue)]
      }
      return try console.print([
        "schema": 1, "entries": JSONValue(count), "findings": .array(list),
      ])
    }
    var text = findings.map { "\($0.kind.rawValue.padded(to: 11)) \($0.name)\n" }.joined()
    text += "checked \(count.counted("entry")): "
    text += findings.isEmpty ? "all as the manifest says\n" : "\(findings.count) to look at\n"
    try console.print(text)
    for kind in FixtureFinding.Kind.allCases where findings.contains(where: { $0.kind == kind }) {
      console.say("\(kind.rawValue): \(kind.cure)")
    }
  }
}

extension FixtureFinding.Kind {
  /// The meaning of the finding, and the remedy.
  var cure: String {
    switch self {
    case .missing: "the manifest lists it and there is no file; record it, or pack DIR"
    case .unlisted: "no line of the manifest is its own; record it, or pack DIR"
    case .changed: "the content is not what was recorded; pack DIR takes it as it is"
    case .refused: "a read refuses it; larder why says why, or check owner, mode and size"
    case .doubled:
      """
      several lines tell of it, as after a merge; pack DIR keeps the one of the file's content; if \
      none or several are, record it again
      """
    case .misnamed: "the key on record has another name; record it again"
    case .unsorted: "lines out of order or with other endings, as after a merge; pack DIR mends it"
    case .unprotected:
      """
      git could convert bytes or merge two recordings of one key; pack DIR writes the file if \
      there is none; in one of your own, here or above, * -text -merge keeps it from both, and \
      -filter -ident -working-tree-encoding from what is set above
      """
    case .conflicted: "git left the marks of a conflict in it; record it again"
    case .expired:
      """
      it has expired when the fixture's clock begins; record it with a longer life, or, if a test \
      is about that, check with --allow-expired
      """
    }
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - utf8.count))
  }
}
