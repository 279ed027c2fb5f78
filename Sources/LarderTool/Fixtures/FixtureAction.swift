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
