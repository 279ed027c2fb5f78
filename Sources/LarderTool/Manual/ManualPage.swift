/// The manual page, made from the verbs' tables.
enum ManualPage {
  /// The page in the format of `man`.
  static var text: String {
    var page = Roff(title: "LARDER", source: "larder \(Version.current)")
    addHead(to: &page)
    page.section("VERBS")
    for verb in Verb.all { add(verb, to: &page) }
    addValues(to: &page)
    addStatus(to: &page)
    addSurroundings(to: &page)
    addExamples(to: &page)
    return page.text
  }

  private static func addHead(to page: inout Roff) {
    page.section("NAME")
    page.paragraph("larder - a disk cache you can read with ls")
    page.section("SYNOPSIS")
    page.paragraph("larder VERB [OPTIONS] DIR ...")
    page.section("DESCRIPTION")
    page.paragraph(
      """
      A cache directory holds one file per entry. The name is the MD5 of the key, the content is \
      the value, the access time is the last use and the modification time is the expiry. An \
      attribute of the file, user.larder, holds a hash of the content, the lifetime, and the key \
      or a digest of it.
      """)
    page.paragraph(
      """
      Options may stand anywhere; -- ends them. Data goes to stdout and talk to stderr. On a \
      terminal, tables are cut to its width and colours show how fresh an entry is; in a pipe \
      nothing is cut or coloured.
      """)
  }

  private static func add(_ verb: Verb, to page: inout Roff) {
    page.part(verb.usage)
    page.paragraph(verb.summary + "." + (verb.alias.map { " Also: larder \($0)." } ?? ""))
    let shared = [Option.json, .plain, .help].map(\.name)
    for option in verb.options where !shared.contains(option.name) {
      let term = option.letter.map { "-\($0), \(option.usage)" } ?? option.usage
      page.item(term, option.help + ".")
    }
    for rule in verb.rules {
      page.paragraph(rule.sentence.prefix(1).uppercased() + rule.sentence.dropFirst() + ".")
    }
    for note in verb.notes { page.paragraph(note) }
  }

  private static func addValues(to page: inout Roff) {
    page.section("OPTIONS OF EVERY VERB")
    for option in [Option.json, .plain, .help] {
      page.item(option.letter.map { "-\($0), \(option.usage)" } ?? option.usage, option.help + ".")
    }
    page.section("VALUES")
    page.item("SIZE", ByteCount.accepted + ". Decimals round down.")
    page.item("D", TimeSpan.accepted + ". A number alone means seconds.")
    page.item(
      "KEY",
      "Any bytes that an argument can hold; --key-file takes any other key. " + Verb.targetNote)
  }

  private static func addStatus(to page: inout Roff) {
    page.section("EXIT STATUS")
    for code in ExitCode.allCases { page.item("\(code.rawValue)", code.meaning + ".") }
    page.item("141", "the reader of stdout has gone, as if by SIGPIPE.")
  }

  private static func addSurroundings(to page: inout Roff) {
    page.section("ENVIRONMENT")
    page.item("NO_COLOR", "With any value but an empty one: no colours. TERM=dumb does the same.")
    page.item("COLUMNS", "The width for tables on a terminal, in the place of the terminal's own.")
    page.section("FILES")
    page.item("CACHEDIR.TAG", "Marks a cache directory, so that backups skip it.")
    page.item(".larder-PID-NUMBER", "A write in progress, locked by its writer.")
  }

  private static func addExamples(to page: inout Roff) {
    page.section("EXAMPLES")
    page.example([
      "larder put pages https://example.org/ page.html --expires 1d",
      "larder get pages https://example.org/ -o page.html",
      "larder why pages https://example.org/",
      "larder top pages",
      "larder trim pages --to 100M --dry-run",
      "larder report pages -o report.html --limit 1G",
    ])
    page.section("SEE ALSO")
    page.paragraph("ls(1), stat(1), touch(1), md5sum(1), getfattr(1)")
  }
}
