@testable import LarderTool

/// Calls of the command that a page shows, checked against its table of verbs.
enum CommandLines {
  /// Returns the code of a page in which the command may be called: spans, and blocks that are
  /// neither Swift nor JSON.
  static func code(of page: String) -> [Substring] {
    let pieces = page.split(separator: "\n```", omittingEmptySubsequences: false)
    let blocks = pieces.enumerated().filter { index, piece in
      index % 2 == 1 && !piece.hasPrefix("swift\n") && !piece.hasPrefix("json\n")
    }
    return Mentions.spans(of: page) + blocks.map(\.element)
  }

  /// Returns what is wrong with the calls in some code: verbs and options that there are not.
  static func complaints(about code: Substring) -> [String] {
    // A command ends where the shell's next one begins. What is quoted are keys and paths.
    code.replacing(#/'[^'\n]*'/#, with: "''")
      .matches(of: #/(?:^|[\s(\/])larder (?<word>[a-z]+|--?[a-z-]+)\b(?<rest>[^|;&)\n]*)/#)
      .flatMap { call -> [String] in
        if call.word.hasPrefix("-") {
          return ["--help", "-h", "--version"].contains(call.word) ? [] : ["no \(call.word)"]
        }
        guard let verb = Verb.named(Array(call.word.utf8)) else { return ["no verb \(call.word)"] }
        let options = call.rest.matches(of: #/ (?<dashes>--?)(?<name>[a-z][a-z-]*)/#)
        return options.compactMap { option in
          let isThere = verb.options.contains {
            (option.dashes == "--" ? $0.name : $0.letter.map(String.init)) == String(option.name)
          }
          return isThere ? nil : "no \(option.dashes)\(option.name) of \(verb.name)"
        }
      }
  }
}
