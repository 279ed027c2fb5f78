/// What the caller asked of a run.
struct PowerOptions {
  /// What a process does.
  enum Role: String {
    case prepare, write, check
  }

  let role: Role
  let directory: String
  var isDurable = false
  var seed: UInt64 = 1
  var threads = 2

  init(_ arguments: [String]) throws {
    guard arguments.count >= 2, let role = Role(rawValue: arguments[0]) else { throw UsageError() }
    self.role = role
    directory = arguments[1]
    var rest = arguments.dropFirst(2)
    while let argument = rest.popFirst() {
      switch argument {
      case "--durable": isDurable = true
      case "--seed":
        guard let seed = rest.popFirst().flatMap({ UInt64($0) }) else { throw UsageError() }
        self.seed = seed
      case "--threads":
        guard let threads = rest.popFirst().flatMap({ Int($0) }), threads > 0 else {
          throw UsageError()
        }
        self.threads = threads
      default: throw UsageError()
      }
    }
  }
}
