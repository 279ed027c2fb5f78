import Larder
import LarderFixtures

extension Verb {
  /// `larder fixture`
  static let fixture = Verb(
    name: "fixture",
    summary: "Pack, unpack or check a directory that is checked in with tests",
    synonyms: ["pack", "unpack", "fixtures"],
    operands: [
      Operand(
        role: .action, arity: .one, placeholder: "ACTION", help: "One of pack, unpack, check"),
      .directory,
      Operand(
        role: .otherDirectory, arity: .optional, placeholder: "TO",
        help: "The directory to pack or unpack into (default: DIR itself)"),
    ],
    ownOptions: [.allowExpired, .adopt],
    rules: [.fixtureAction, .checkHasNoTarget, .expiredIsForCheck],
    notes: [
      """
      pack takes the entries of the cache DIR into the fixture TO and writes its manifest; within \
      one directory it brings the manifest up to what the files are. unpack makes a cache TO of \
      the fixture DIR, with the stamps and attributes that git does not keep. A directory that \
      has entries and no manifest is written to only with --adopt. Both leave out what a read \
      refuses, such as a damaged file, say so, and end with status 1. check compares the \
      fixture DIR with its manifest; a finding is status 1. A value that has expired when the \
      fixture's clock begins is a finding, because a read misses it; for a fixture that is to \
      test just that, give --allow-expired.
      """
    ],
    run: { call throws(Failure) in try call.fixture() })
}

extension Option {
  /// The flag by which `check` accepts values that have expired when the fixture's clock begins.
  static let allowExpired = Option(
    "allow-expired", nil, .flag, "With check: values may have expired when the clock begins")
}

/// The actions on a fixture.
enum FixtureAction: String, CaseIterable {
  case pack
  case unpack
  case check

  /// The word for what was done.
  var participle: String {
    switch self {
    case .pack: "packed"
    case .unpack: "unpacked"
    case .check: "checked"
    }
  }

  /// The names of all actions, separated by spaces.
  static var names: String { allCases.map(\.rawValue).joined(separator: " ") }

  /// Creates the action that the arguments name. Returns nil if they name none.
  init?(_ arguments: Arguments) {
    self.init(rawValue: String(decoding: arguments[.action].first ?? [], as: UTF8.self))
  }
}

extension Rule {
  /// The rule that the first argument is an action, not the directory.
  static let fixtureAction = Rule("the action is one of pack, unpack and check") {
    FixtureAction($0) != nil
  }

  /// The rule that `check` has no second directory, because it writes nothing.
  static let checkHasNoTarget = Rule("check takes one directory") {
    FixtureAction($0) != .check || $0[.otherDirectory].isEmpty
  }
}

extension Rule {
  /// The rule that `--allow-expired` is for `check` alone.
  static let expiredIsForCheck = Rule("--allow-expired is for check") {
    FixtureAction($0) == .check || !$0.has(.allowExpired)
  }
}

extension Call {
  /// Packs, unpacks or checks a fixture.
  func fixture() throws(Failure) -> ExitCode {
    let origin = arguments.directory
    let target = arguments[.otherDirectory].first ?? origin
    let paths = (from: try Self.path(of: origin), to: try Self.path(of: target))
    let action = FixtureAction(arguments) ?? .check
    let isInPlace = target == origin
    try requireFixture(origin, mayBeCache: !isInPlace || action == .check)
    if !isInPlace { try requireFixture(target, mayBeMissing: true) }
    let progress = ProgressLine(action.participle, console)
    defer { progress.finish() }
    switch action {
    case .pack:
      let (transfer, manifest) = try onFixture { () throws(CacheError) in
        let fixture = try FixtureDirectory(paths.to, makesDirectory: true)
        let transfer = try fixture.pack(from: paths.from) { progress.update($0, $1) }
        return (transfer, try fixture.manifest())
      }
      progress.finish()
      let status = try report(action.participle, transfer)
      sayExpired(in: manifest)
      return status
    case .unpack:
      let transfer = try onFixture { () throws(CacheError) in
        try FixtureDirectory(paths.from).unpack(into: paths.to) { progress.update($0, $1) }
      }
      progress.finish()
      return try report(action.participle, transfer)
    case .check:
      let (count, findings) = try onFixture { () throws(CacheError) in
        try FixtureDirectory(paths.from).check(allowsExpired: arguments.has(.allowExpired)) {
          progress.update($0, $1)
        }
      }
      progress.finish()
      try report(findings, among: count)
      return findings.isEmpty ? .fine : .finding
    }
  }

  /// Throws if the directory holds only other files, or is a cache whose entries could be
  /// overwritten or take the times of a fixture, before anything in it can be changed.
  func requireFixture(
    _ directory: [UInt8], mayBeMissing: Bool = false, mayBeCache: Bool = false
  ) throws(Failure) {
    let path = try Self.path(of: directory)
    let (kind, hasManifest) = try onCache(directory) { () throws(CacheError) in
      let kind = try FixtureDirectory.kind(ofDirectory: path)
      return (kind, kind == .cache ? try FixtureDirectory(path).hasManifest() : false)
    }
    switch kind {
    case .cache:
      if !hasManifest, !mayBeCache, !arguments.has(.adopt) {
        throw .notACache(directory, "is a cache without a manifest", cure: "--adopt takes it")
      }
    case .empty: return
    case .foreign:
      if !arguments.has(.adopt) {
        throw .notACache(directory, cure: try adoption(of: directory, "--adopt"))
      }
    case nil:
      // The target of a dangling link is not created, as with put.
      guard mayBeMissing, !Failure.isLink(directory) else {
        throw .missing(directory, cure: "larder record would make it")
      }
    }
  }

  /// Runs a step on two directories. The failure names the directory of the error.
  private func onFixture<Result>(
    _ step: () throws(CacheError) -> Result
  ) throws(Failure) -> Result {
    do throws(CacheError) {
      return try step()
    } catch {
      throw Failure(error, directory: error.path.map { Array($0.utf8) } ?? arguments.directory)
    }
  }

  private func report(
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
  private func sayExpired(in manifest: FixtureManifest) {
    let start = manifest.latestAccess ?? FixtureDirectory.start
    let count = manifest.lines.values.joined().count { $0.isKept && $0.expiry <= start }
    guard count > 0 else { return }
    let verb = count == 1 ? "has" : "have"
    console.say(
      "\(count.counted("value")) \(verb) expired when the clock begins; larder fixture check names "
        + "them")
  }

  private func report(_ findings: [FixtureFinding], among count: Int) throws(Failure) {
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
      git could convert line endings or merge two recordings of one key; pack DIR writes the file; \
      in one of your own, here or above, * -text -merge keeps it from both
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
