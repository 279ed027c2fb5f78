/// The options of a run.
struct CrashOptions {
  /// The role of a process.
  enum Role: String {
    case write, story, judge, value
  }

  let role: Role
  let directory: String
  var marks = ""
  var isDurable = false
  /// Whether stores return before they are written.
  var isBehind = false
  /// Whether values have no extended data.
  var isPlain = false
  var requiresProof = false
  /// Whether the judge reads in a mode that checks no hash.
  var isBlind = false
  /// Whether another process changes the same keys.
  var isShared = false
  var seed: UInt64 = 1
  var process = 0
  var steps = 200
  var threads = 2

  init(_ arguments: [String]) throws {
    guard arguments.count >= 2, let role = Role(rawValue: arguments[0]) else { throw UsageError() }
    self.role = role
    directory = arguments[1]
    var rest = arguments.dropFirst(2)
    while let argument = rest.popFirst() {
      if setFlag(argument) { continue }
      guard let text = rest.popFirst() else { throw UsageError() }
      if argument == "--marks" {
        marks = text
        continue
      }
      guard let number = UInt64(text), number < 1 << 62 else { throw UsageError() }
      switch argument {
      case "--seed": seed = number
      case "--process": process = Int(number)
      case "--steps": steps = Int(number)
      case "--threads" where 1...16 ~= number: threads = Int(number)
      default: throw UsageError()
      }
    }
  }

  private mutating func setFlag(_ argument: String) -> Bool {
    switch argument {
    case "--durable": isDurable = true
    case "--behind": isBehind = true
    case "--plain": isPlain = true
    case "--proof": requiresProof = true
    case "--blind": isBlind = true
    case "--shared": isShared = true
    default: return false
    }
    return true
  }
}
