extension Verb {
  /// Returns the text of `larder VERB --help`.
  func helpText(width: Int, style: TextStyle) -> String {
    var help = HelpText(width: width, style: style)
    help.paragraph("larder \(name): \(summary)" + (alias.map { " (also: larder \($0))" } ?? ""))
    help.line("Usage", usage)
    help.list("Arguments", operands.map { ($0.placeholder, $0.help) })
    help.list("Options", options.map { ($0.term, $0.help) })
    for rule in rules { help.paragraph(rule.sentence.capitalizedFirst + ".") }
    for note in notes { help.paragraph(note) }
    for value in valueNotes { help.paragraph(value) }
    return help.text
  }

  /// The sentences on the notation of sizes and durations, if the verb has such options.
  private var valueNotes: [String] {
    let kinds = options.map(\.kind)
    return [
      kinds.contains(.size) ? "\(ByteCount.accepted). Decimals round down.".capitalizedFirst : nil,
      kinds.contains(.duration) || kinds.contains(.expiration)
        ? "\(TimeSpan.accepted). A number alone means seconds.".capitalizedFirst : nil,
    ].compactMap(\.self)
  }

  /// Returns the text of `larder --help`.
  static func overview(width: Int, style: TextStyle) -> String {
    var help = HelpText(width: width, style: style)
    help.paragraph("larder: a disk cache you can read with ls")
    help.line("Usage", "larder VERB [OPTIONS] DIR ...")
    help.list("Verbs", all.map { ($0.names.joined(separator: ", "), $0.summary) })
    help.list("Options of every verb", [Option.json, .plain, .help].map { ($0.term, $0.help) })
    help.list("Exit status", ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
    help.paragraph(
      """
      Options may stand anywhere; -- ends them. Data goes to stdout and talk to stderr; \
      when the reader of stdout has gone, the status is 141, as if by SIGPIPE. \
      larder VERB --help says more, larder --version names the release.
      """)
    return help.text
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
