@testable import LarderTool

// The tool's arguments, separated by zero bytes: a request or a sentence, never a trap.
func fuzz(_ bytes: [UInt8]) {
  let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
  do {
    switch try Request(words) {
    case .run(let verb, let arguments):
      require(
        !arguments.directory.isEmpty || verb.name == "demo", "\(verb.name) without a directory")
    case .help, .version: break
    }
  } catch {
    let text = "\(Answer(error))"
    require(!text.isEmpty, "a mistake without a word")
  }
}
