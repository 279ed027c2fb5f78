/// One thing the command does: its table of operands and options, from which everything else that
/// depends on them is made.
struct Verb: Sendable {
  /// The word on the command line.
  let name: String
  /// What it does, as a phrase in the imperative without a full stop.
  let summary: String
  /// Other words that people try for it; used for suggestions only.
  var synonyms: [String] = []
  /// The arguments without dashes, in order.
  let operands: [Operand]
  /// Its own options; `--json`, `--plain` and `--help` come on top.
  var ownOptions: [Option] = []
  /// What the arguments have to satisfy together.
  var rules: [Rule] = []
  /// What else the help says, a paragraph each.
  var notes: [String] = []

  /// Carries it out.
  let run: @Sendable (Call) throws(Failure) -> ExitCode

  /// All its options.
  var options: [Option] { ownOptions + [.json, .plain, .help] }

  /// The option with a name, nil when the verb has none.
  func option(named name: String) -> Option? {
    options.first { $0.name == name }
  }

  /// The line that shows how to type it.
  var usage: String {
    let required = rules.compactMap(\.usage)
    let words = ["larder", name] + required + ["[OPTIONS]"] + operands.map(\.usage)
    return words.joined(separator: " ")
  }
}
