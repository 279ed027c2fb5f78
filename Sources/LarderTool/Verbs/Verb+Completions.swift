extension Verb {
  /// `larder completions`
  static let completions = Verb(
    name: "completions",
    summary: "Print the completions for a shell",
    synonyms: ["completion", "autocomplete"],
    operands: [.shell],
    notes: [
      """
      For the shell that is open: source <(larder completions bash), the same with zsh, or larder \
      completions fish | source. The head of each script says where it goes to be there always.
      """
    ],
    run: { call throws(Failure) in try call.completions() })
}

extension Call {
  /// Prints the completion script for a shell.
  func completions() throws(Failure) -> ExitCode {
    let word = arguments[.shell].first ?? []
    guard
      let shell = CompletionShell.allCases.first(where: { word.elementsEqual($0.rawValue.utf8) })
    else {
      let names = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
      throw .usage("there are no completions for \(word.quotedForDisplay); say one of \(names)")
    }
    if isJSON {
      try console.print([
        "schema": 1, "shell": .string(shell.rawValue), "script": .string(shell.script),
      ])
    } else {
      try console.print(shell.script)
    }
    return .fine
  }
}
