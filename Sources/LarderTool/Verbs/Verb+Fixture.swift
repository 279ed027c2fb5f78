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
    ownOptions: [.adopt],
    rules: [.fixtureAction, .checkHasNoTarget],
    notes: [
      """
      pack takes the entries of the cache DIR into the fixture TO and writes its manifest; within \
      one directory it brings the manifest up to what the files are. unpack makes a cache TO of \
      the fixture DIR, with the stamps and attributes that git does not keep. Both leave out what a \
      read refuses, such as a damaged file, say so, and end with status 1. check compares the \
      fixture DIR with its manifest; a finding is status 1.
      """
    ],
    run: { call throws(Failure) in try call.fixture() })
}

/// What can be done with a fixture.
enum FixtureAction: String, CaseIterable {
  case pack
  case unpack
  case check

  /// The words, with spaces between them.
  static var names: String { allCases.map(\.rawValue).joined(separator: " ") }

  /// The action that the arguments name.
  init?(_ arguments: Arguments) {
    self.init(rawValue: String(decoding: arguments[.action].first ?? [], as: UTF8.self))
  }
}

extension Rule {
  /// The first argument is a word and not the directory.
  static let fixtureAction = Rule("the action is one of pack, unpack and check") {
    FixtureAction($0) != nil
  }

  /// A check has nothing to write to.
  static let checkHasNoTarget = Rule("check takes one directory") {
    FixtureAction($0) != .check || $0[.otherDirectory].isEmpty
  }
}
