/// Completions for bash 4 and later, without the bash-completion package.
enum BashCompletion {
  /// The script: a function and the line that registers it.
  static var script: String {
    """
    # larder's completions for bash. In ~/.bashrc: source <(larder completions bash)
    # Or once: larder completions bash > \(CompletionShell.bash.place)
    _larder() {
      local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= place=0 i
      COMPREPLY=()
      # bash cuts --option=value into three words.
      if [[ $cur == '=' ]]; then cur=; fi
      if [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
      for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
          \(valued)) if [[ ${COMP_WORDS[i+1]} == '=' ]]; then ((i++)); fi; ((i++)) ;;
          -?*) ;;
          *) if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}; else ((place++)); fi ;;
        esac
      done
      case $prev in
    \(values)
      esac
      local options places=() kind
      case $verb in
    \(verbs)
        help) options= places=(verb) ;;
        *) options='--help --version --json' places=(verb) ;;
      esac
      if [[ $cur == -* ]]; then _larder_reply -W "$options"; return; fi
      # The last place of a verb may take several arguments.
      if ((place < ${#places[@]})); then
        kind=${places[place]}
      elif ((${#places[@]})) && [[ ${places[-1]} == *+ ]]; then
        kind=${places[-1]}
      fi
      case ${kind%+} in
        verb) _larder_reply -W '\(Verb.all.flatMap(\.names).joined(separator: " ")) help' ;;
        directory) _larder_files -d ;;
        file) _larder_files -f ;;
        shell) _larder_reply -W '\(CompletionShell.names)' ;;
        action) _larder_reply -W '\(FixtureAction.names)' ;;
      esac
    }
    _larder_reply() { mapfile -t COMPREPLY < <(compgen "$@" -- "$cur"); }
    # Names are compared without the quotes and backslashes of the word, and bash quotes the reply.
    _larder_files() {
      case $cur in
        [\\'\\"]*) cur=${cur:1} ;;
        *) IFS= read cur <<<"$cur" ;;
      esac
      _larder_reply "$@"
      compopt -o filenames
    }
    complete -F _larder larder

    """
  }

  /// The options that take a value, as a shell pattern.
  private static var valued: String {
    Verb.vocabulary.filter { $0.kind != .flag }.flatMap(\.spellings).joined(separator: "|")
  }

  /// The completions of the options' values.
  private static var values: String {
    Verb.vocabulary.filter { $0.kind != .flag }.map { option in
      let pattern = option.spellings.joined(separator: "|")
      return switch option.kind {
      case .choice(_, let words):
        "    \(pattern)) _larder_reply -W '\(words.joined(separator: " "))'; return ;;"
      case .file: "    \(pattern)) _larder_files -f; return ;;"
      default: "    \(pattern)) return ;;"
      }
    }.joined(separator: "\n")
  }

  private static var verbs: String {
    Verb.all.map { verb in
      let options = verb.options.flatMap(\.spellings).joined(separator: " ")
      let places = verb.operands.map(\.completionKind).joined(separator: " ")
      return "    \(verb.names.joined(separator: "|"))) options='\(options)' places=(\(places)) ;;"
    }.joined(separator: "\n")
  }
}

extension CompletionShell {
  /// The names, with spaces between them.
  static var names: String { allCases.map(\.rawValue).joined(separator: " ") }
}

extension Option {
  /// The spellings on the command line, the long form first.
  var spellings: [String] { ["--\(name)"] + (letter.map { ["-\($0)"] } ?? []) }
}

extension Operand {
  /// The kind of completion for the operand, with a plus if it takes any number of arguments.
  var completionKind: String {
    let kind =
      switch role {
      case .directory, .otherDirectory: "directory"
      case .key: "key"
      case .file: "file"
      case .name: "name"
      case .shell: "shell"
      case .action: "action"
      }
    return counts.upperBound == .max ? kind + "+" : kind
  }
}
