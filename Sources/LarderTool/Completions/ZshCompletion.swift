import Larder

/// Completions for zsh, to be sourced or put into a directory of `$fpath`.
enum ZshCompletion {
  /// The script. If it is autoloaded, it is the function's body; if sourced, it registers the
  /// function.
  static var script: String {
    """
    #compdef larder
    # larder's completions for zsh. In ~/.zshrc after compinit: source <(larder completions zsh)
    # Or once: larder completions zsh > \(CompletionShell.zsh.place)
    _larder() {
      local curcontext=$curcontext state line
      local -A opt_args
      _arguments -C '--help[Show this help and exit]' '--version[Show the version and exit]' \\
        '1:verb:->verb' '*::argument:->argument'
      case $state in
        verb)
          local -a verbs=(
    \(verbs)
          )
          _describe -t verbs verb verbs ;;
        argument)
          case $words[1] in
    \(cases)
          esac ;;
      esac
    }
    if [[ $funcstack[1] == _larder ]]; then _larder "$@"; else compdef _larder larder; fi

    """
  }

  private static var verbs: String {
    Verb.all.flatMap { verb in
      verb.names.map { "        " + "\($0):\(verb.summary.escaping(":"))".singleQuoted }
    }.joined(separator: "\n")
  }

  private static var cases: String {
    Verb.all.map { verb in
      let places = verb.operands.enumerated().map { index, operand in
        self.place(operand, index + 1).singleQuoted
      }
      let arguments = verb.options.flatMap(specifications) + places
      let lines = arguments.map { "          " + $0 }.joined(separator: " \\\n")
      return "        \(verb.names.joined(separator: "|"))) _arguments \\\n\(lines) ;;"
    }.joined(separator: "\n")
  }

  /// Returns one specification for each spelling of an option. They exclude each other.
  private static func specifications(of option: Option) -> [String] {
    let others = option.spellings.joined(separator: " ")
    return option.spellings.map { spelling in
      let help = option.help.escaping("[]:")
      let sign = option.kind == .flag ? "" : spelling.hasPrefix("--") ? "=" : "+"
      return "(\(others))\(spelling)\(sign)[\(help)]\(value(of: option))".singleQuoted
    }
  }

  private static func value(of option: Option) -> String {
    switch option.kind {
    case .flag: ""
    case .file: ":FILE:_files"
    case .choice(let name, let words): ":\(name):(\(words.joined(separator: " ")))"
    default: ":\(option.kind.placeholder ?? "value"): "
    }
  }

  private static func place(_ operand: Operand, _ number: Int) -> String {
    let action =
      switch operand.role {
      case .directory, .otherDirectory: "_files -/"
      case .file: "_files"
      case .key, .name: " "
      case .shell: "(\(CompletionShell.names))"
      case .action: "(\(FixtureAction.names))"
      }
    let place = operand.counts.upperBound == .max ? "*" : "\(number)"
    return "\(place):\(operand.placeholder):\(action)"
  }
}

extension String {
  /// Returns the text with a backslash before each of some characters.
  fileprivate func escaping(_ characters: String) -> String {
    reduce(into: "") { text, character in
      if characters.contains(character) { text += "\\" }
      text.append(character)
    }
  }
}
