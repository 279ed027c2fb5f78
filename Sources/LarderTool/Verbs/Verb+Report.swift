import Larder

extension Verb {
  /// `larder report`
  static let report = Verb(
    name: "report",
    summary: "Write a page for a browser: sizes, expiries, uses, damage, and a table to search",
    synonyms: ["html", "dashboard", "page"],
    operands: [.directory],
    ownOptions: [.page, .limit, .order, .quick],
    rules: [.jsonNeedsPage],
    notes: [
      """
      The page is one file that loads nothing and may be opened from anywhere. It holds the keys, \
      so that its mode is 0600. It shows what an eviction would take: down to half of --limit, or \
      of the present total. Damage is said on stderr and does not change the status: larder \
      verify judges.
      """,
      orderNote,
    ],
    run: { call throws(Failure) in try call.readingFixture().report() })
}

extension Option {
  /// The file for the page.
  static let page = Option(
    "output", "o", .file, "Write the page to a file (-: stdout, the default)")
  /// The limit of the cache, which the directory does not contain.
  static let limit = Option("limit", nil, .size, "The cache's limit, to compare the total with")
  /// The flag that skips reading the values, which takes long.
  static let quick = Option("quick", nil, .flag, "Do not read the values: damage stays unknown")
}

extension Rule {
  /// The rule that the JSON object and the page do not share stdout.
  static let jsonNeedsPage = Rule("--json needs -o FILE, since the page would mix with it") {
    !$0.has(.json) || !OutputFile.isStandardOutput($0.file(.page))
  }
}

extension Call {
  /// Writes the page for a browser.
  func report() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let content = try content(of: cache)
    sayUnreadable(content.entries)
    sayRefusals()
    try write(content)
    sayDamage(content.findings?.damaged.count ?? 0)
    try onCache { () throws(CacheError) in try cache.close() }
    if isJSON { try console.print(content.json(page: arguments.file(.page) ?? Self.dash)) }
    return .fine
  }

  /// Says that entries are damaged, which the status of a report does not.
  private func sayDamage(_ count: Int) {
    if count == 0 { return }
    let (verb, object) = count == 1 ? ("is", "it") : ("are", "them")
    console.say("\(count.counted("entry")) \(verb) damaged; larder verify DIR names \(object)")
  }

  /// Returns the content of the page.
  private func content(of cache: DiskCache) throws(Failure) -> ReportContent {
    let limit = arguments.size(.limit).map { Int($0.count) }
    let isChecking = !arguments.has(.quick)
    let progress = ProgressLine(isChecking ? "checked" : "looked at", console)
    defer { progress.finish() }
    var inventory = try onCache { () throws(CacheError) in
      try cache.inventory(
        isChecking: isChecking, foreignUpTo: ReportContent.mostForeign,
        reporting: progress.update)
    }
    if let fixtureCopy { inventory.describe(fixtureCopy) }
    let target = (limit ?? inventory.entries.byteCount) / 2
    return ReportContent(
      directory: try original(of: cache).directory, now: now, limit: limit, target: target,
      isByValue: goesByValue, inventory: inventory,
      fates: inventory.fates(under: .size(target)))
  }

  private func write(_ content: ReportContent) throws(Failure) {
    let path = arguments.file(.page) ?? Self.dash
    do throws(Errno) {
      var output =
        path == Self.dash
        ? OutputFile.standardOutput : try OutputFile(Path(path), permissions: 0o600)
      var page = ReportPage()
      try page.write(content, to: output)
      try output.finish()
    } catch .brokenPipe where path == Self.dash {
      throw .brokenPipe
    } catch {
      let name = path == Self.dash ? "stdout" : path.quotedForDisplay
      throw Failure(error, doing: "write to \(name)")
    }
    if path != Self.dash, let word = CacheKey(path).shellWord, console.isTerminal {
      console.talk(console.style.dim("next: xdg-open \(word)  # look at it") + "\n")
    }
  }
}
