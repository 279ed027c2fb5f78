/// A subcommand with its operands and options. Parsing, help, completions and the manual are made
/// from this table.
struct Verb: Sendable {
  /// The word on the command line.
  let name: String
  /// The effect, as a phrase in the imperative without a full stop.
  let summary: String
  /// Another word that runs it too; nil if there is none.
  var alias: String?
  /// Other words that users try for it. They are used for suggestions only.
  var synonyms: [String] = []
  /// The arguments without dashes, in order.
  let operands: [Operand]
  /// The options of this verb, without `--json`, `--plain` and `--help`, which every verb has.
  var ownOptions: [Option] = []
  /// The conditions on several arguments at once.
  var rules: [Rule] = []
  /// Whether `--json` prints an object on a line of its own for each event, not one in all.
  var printsLines = false
  /// Further paragraphs of the help.
  var notes: [String] = []

  /// Runs the verb.
  let run: @Sendable (Call) throws(Failure) -> ExitCode

  /// The words that run it.
  var names: [String] { [name] + (alias.map { [$0] } ?? []) }

  /// All options, with those that every verb has.
  var options: [Option] { ownOptions + [.json, .plain, .help] }

  /// Returns the option with a name; nil if the verb has none.
  func option(named name: String) -> Option? {
    options.first { $0.name == name }
  }

  /// The usage line.
  var usage: String {
    let required = rules.compactMap(\.usage)
    let words = ["larder", name] + required + ["[OPTIONS]"] + operands.map(\.usage)
    return words.joined(separator: " ")
  }
}
