extension Verb {
  /// `larder report`
  static let report = Verb(
    name: "report",
    summary: "Write a page for a browser: sizes, expiries, uses, damage, and a table to search",
    synonyms: ["html", "dashboard", "page"],
    operands: [.directory],
    ownOptions: [.page, .limit, .quick],
    rules: [.jsonNeedsPage],
    notes: [
      """
      The page is one file that loads nothing and may be opened from anywhere. It holds the keys, \
      so that its mode is 0600. It shows what an eviction would take: down to half of --limit, or \
      of the present total.
      """
    ],
    run: { call throws(Failure) in try call.report() })
}

extension Option {
  /// Where the page goes.
  static let page = Option(
    "output", "o", .file, "Write the page to a file (-: stdout, the default)")
  /// The limit of the cache that is looked at, which the directory does not tell.
  static let limit = Option("limit", nil, .size, "The cache's limit, to compare the total with")
  /// Leaves out what takes long.
  static let quick = Option("quick", nil, .flag, "Do not read the values: damage stays unknown")
}

extension Rule {
  /// The object and the page cannot share stdout.
  static let jsonNeedsPage = Rule("--json needs -o FILE, since the page would mix with it") {
    !$0.has(.json) || ($0.file(.page) ?? [0x2D]) != [0x2D]
  }
}
