import Larder

extension Call {
  /// Writes a page that shows the directory in a browser.
  func report() throws(Failure) -> ExitCode {
    let cache = try openForReading()
    let findings = arguments.has(.quick) ? nil : try verification(of: cache, repairs: false)
    let content = try content(of: cache, findings)
    sayUnreadable(content.entries)
    try write(content)
    try onCache { () throws(CacheError) in try cache.close() }
    if isJSON { try console.print(content.json(path: arguments.file(.page) ?? Self.dash)) }
    return .fine
  }

  /// Everything that the page shows.
  private func content(
    of cache: DiskCache, _ findings: Verification?
  ) throws(Failure) -> ReportContent {
    let limit = arguments.size(.limit).map { Int($0.count) }
    return try onCache { () throws(CacheError) in
      let entries = try cache.entries()
      let total = entries.byteCount
      let target = (limit ?? total) / 2
      return ReportContent(
        directory: cache.directory, now: WallClock.system.now(), entries: entries,
        survey: try cache.survey(), findings: findings, limit: limit, target: target,
        victims: try cache.names(takenBy: .size(target)),
        foreign: try cache.foreignThings(upTo: ReportContent.mostForeign))
    }
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
