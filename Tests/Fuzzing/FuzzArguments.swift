@testable import LarderTool

// The tool's arguments, separated by zero bytes. They give a request or an error, never a trap.
func fuzz(_ bytes: [UInt8]) {
  let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
  do {
    switch try Request(words) {
    case .run(let verb, let arguments):
      let needsDirectory = verb.operands.contains {
        $0.role == .directory && ($0.arity == .one || $0.arity == .oneOrMore)
      }
      require(
        !needsDirectory || !arguments[.directory].isEmpty, "\(verb.name) without a directory")
    case .help, .version: break
    }
  } catch {
    let text = "\(Answer(error))"
    require(!text.isEmpty, "a mistake without a word")
  }
}
