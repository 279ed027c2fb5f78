import Larder

/// Completions for fish.
enum FishCompletion {
  /// The script, with one line for each completion.
  static var script: String {
    var lines = [
      "# larder's completions for fish. In config.fish: larder completions fish | source",
      "# Or once: larder completions fish > \(CompletionShell.fish.place)",
      "complete -c larder -f",
      "complete -c larder -n __fish_use_subcommand -l help -s h -d 'Show this help and exit'",
      "complete -c larder -n __fish_use_subcommand -l version -d 'Show the version and exit'",
    ]
    for verb in Verb.all {
      lines.append(
        "complete -c larder -n __fish_use_subcommand -a \(verb.name) "
          + "-d \(verb.summary.singleQuoted)")
      lines += verb.options.map { line(for: $0, of: verb) }
      lines += verb.operands.compactMap { line(for: $0, of: verb) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func start(_ verb: Verb) -> String {
    "complete -c larder -n '__fish_seen_subcommand_from \(verb.name)'"
  }

  private static func line(for option: Option, of verb: Verb) -> String {
    let letter = option.letter.map { " -s \($0)" } ?? ""
    let value =
      switch option.kind {
      case .flag: ""
      case .file: " -r -F"
      case .choice(_, let words): " -x -a '\(words.joined(separator: " "))'"
      default: " -x"
      }
    return "\(start(verb)) -l \(option.name)\(letter)\(value) -d \(option.help.singleQuoted)"
  }

  private static func line(for operand: Operand, of verb: Verb) -> String? {
    switch operand.role {
    case .directory, .otherDirectory: "\(start(verb)) -a '(__fish_complete_directories)'"
    case .file: "\(start(verb)) -F"
    case .shell: "\(start(verb)) -a '\(CompletionShell.names)'"
    case .action: "\(start(verb)) -a '\(FixtureAction.names)'"
    case .key: nil
    }
  }
}
