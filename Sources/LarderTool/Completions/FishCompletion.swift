import Larder

/// Completions for fish.
enum FishCompletion {
  /// The script, with one line for each completion.
  static var script: String {
    var lines = [
      "# larder's completions for fish. In config.fish: larder completions fish | source",
      "# Or once: larder completions fish > \(CompletionShell.fish.place)",
      place, "complete -c larder -f",
      "complete -c larder -n __fish_use_subcommand -l help -s h -d 'Show this help and exit'",
      "complete -c larder -n __fish_use_subcommand -l version -d 'Show the version and exit'",
    ]
    for verb in Verb.all {
      lines.append(
        "complete -c larder -n __fish_use_subcommand -a '\(verb.names.joined(separator: " "))' "
          + "-d \(verb.summary.singleQuoted)")
      lines += verb.options.map { line(for: $0, of: verb) }
      for name in verb.names {
        lines += verb.operands.enumerated().compactMap { line(for: $1, at: $0, of: name) }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The function that tells whether the cursor is at one of the places from FIRST to LAST of a
  /// verb's operands: `__larder_at VERB FIRST LAST`.
  private static var place: String {
    let valued = Verb.vocabulary.filter { $0.kind != .flag }.flatMap(\.spellings)
    return """
      function __larder_at
        set -l verb ''; set -l place 0; set -l isValue no
        for word in (commandline -opc)[2..]
          if test $isValue = yes; set isValue no; continue; end
          switch $word
            case \(valued.joined(separator: " "))
              set isValue yes
            case '-?*'
            case '*'
              if test -z "$verb"; set verb $word; else; set place (math $place + 1); end
          end
        end
        test "$verb" = $argv[1] -a $place -ge $argv[2] -a $place -le $argv[3] -a $isValue = no
      end
      """
  }

  private static func start(_ verb: Verb) -> String {
    "complete -c larder -n '__fish_seen_subcommand_from \(verb.names.joined(separator: " "))'"
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

  private static func line(
    for operand: Operand, at place: Int, of verb: String
  ) -> String? {
    let last = operand.counts.upperBound == .max ? Int(Int16.max) : place
    let start = "complete -c larder -n '__larder_at \(verb) \(place) \(last)'"
    return switch operand.role {
    case .directory, .otherDirectory: "\(start) -a '(__fish_complete_directories)'"
    case .file: "\(start) -F"
    case .shell: "\(start) -a '\(CompletionShell.names)'"
    case .action: "\(start) -a '\(FixtureAction.names)'"
    case .key, .name: nil
    }
  }
}
