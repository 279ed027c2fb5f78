/// A shell whose completions the command can print.
enum CompletionShell: String, Sendable, Hashable, CaseIterable {
  case bash
  case zsh
  case fish

  /// The script, made from the verbs' tables.
  var script: String {
    switch self {
    case .bash: BashCompletion.script
    case .zsh: ZshCompletion.script
    case .fish: FishCompletion.script
    }
  }

  /// The place of the script from which every new shell loads it.
  var place: String {
    switch self {
    case .bash: "~/.local/share/bash-completion/completions/larder"
    case .zsh: "_larder, in a directory of $fpath"
    case .fish: "~/.config/fish/completions/larder.fish"
    }
  }
}
