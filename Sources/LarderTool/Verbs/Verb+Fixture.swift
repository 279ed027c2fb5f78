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
      has entries and no manifest is written to only with --adopt, and by unpack another fixture, \
      too. Both leave out what a read refuses, such as a damaged file, say so, and end with \
      status 1. check compares the fixture DIR with its manifest; a finding is status 1. A value \
      that has expired when the fixture's clock begins is a finding, because a read misses it; for \
      a fixture that is to test just that, give --allow-expired.
      """
    ],
    run: { call throws(Failure) in try call.fixture() })
}

extension Option {
  /// The flag by which `check` accepts values that have expired when the fixture's clock begins.
  static let allowExpired = Option(
    "allow-expired", nil, .flag, "With check: values may have expired when the clock begins")
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
    if !isInPlace {
      try requireFixture(target, mayBeMissing: true, mayBeFixture: action != .unpack)
    }
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

  /// Throws if the directory holds only other files, or is a cache or a fixture whose entries could
  /// be overwritten or take the times of a fixture, before anything in it can be changed.
  func requireFixture(
    _ directory: [UInt8], mayBeMissing: Bool = false, mayBeCache: Bool = false,
    mayBeFixture: Bool = true
  ) throws(Failure) {
    let path = try Self.path(of: directory)
    let (kind, hasManifest) = try onCache(directory) { () throws(CacheError) in
      let kind = try FixtureDirectory.kind(ofDirectory: path)
      guard kind == .cache else { return (kind, false) }
      let fixture = try FixtureDirectory(path)
      return (kind, try fixture.hasManifest() ? try fixture.manifestIfOwn() != nil : false)
    }
    switch kind {
    case .cache where hasManifest && !mayBeFixture:
      if !arguments.has(.adopt) {
        throw .notACache(directory, "is a fixture", cure: "--adopt overwrites what it has")
      }
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
}
