import Larder

/// The text of the demo, made from its figures.
struct DemoReport: Sendable {
  let figures: DemoFigures
  let entries: [DiskEntry]
  /// The command as it was typed.
  let program: String
  let style: TextStyle

  /// The whole text.
  var text: String {
    let sections = [opening, storing, expiring, evicting, listing, looking]
    return sections.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
  }

  private var opening: [String] {
    var lines = [
      style.bold("Larder: a disk cache you can read with ls"), "",
      row("directory", figures.directory.escapedForDemo),
      row(
        "values",
        "\(figures.stores.count) \(figures.origin.escapedForDemo), "
          + size(figures.stores.byteCount)),
    ]
    if figures.leftovers > 0 {
      lines.append(
        row("before", "removed \(figures.leftovers.counted("entry")) of an earlier demo"))
    }
    return lines
  }

  private var storing: [String] {
    [
      style.bold("1. Store and read"), "",
      row("stored", speed(figures.stores) + ", a file for each"),
      row("from disk", speed(figures.diskReads) + ", opened anew, each checked against its hash"),
      row("from memory", speed(figures.memoryReads) + ", the same bytes from the tier above"),
    ] + (figures.isDebugBuild ? buildNote : [])
  }

  /// The rows that say why the times are not those of a release build.
  private var buildNote: [String] {
    [
      row("build", "debug, in which Larder's own code runs unoptimised, many times slower."),
      row("", "Measure with swift run -c release larder demo"),
    ]
  }

  private var expiring: [String] {
    let expiry = figures.expiry
    return [
      style.bold("2. Expire"), "",
      row("lifetime", "\(expiry.lifetime) s for one value; the file's mtime is its expiry"),
      row("at once", expiry.wasFoundBefore ? "found" : "not found"),
      row("\(expiry.wait.measuredText) on", expiry.wasFoundAfter ? "found" : "not found: expired"),
    ]
  }

  private var evicting: [String] {
    let eviction = figures.eviction
    let kept = "\(eviction.recentKept) of the \(eviction.recent)"
    return [
      style.bold("3. Evict"), "",
      row("limit", "\(eviction.limit) bytes"),
      row("before", "\(eviction.bytesBefore) bytes in \(eviction.entriesBefore) entries"),
      row("one more", "\(eviction.added) bytes, which pass the limit"),
      row(
        "removed", "\(eviction.expired) expired, then the \(eviction.evicted) least recently used"),
      row(
        "after",
        "\(eviction.bytesAfter) bytes in \(eviction.entriesAfter) entries: \(share) of the limit"),
      row("still there", "\(kept) that were read just before"),
    ]
  }

  /// The bytes after the eviction, in per cent of the limit, rounded down.
  private var share: String {
    let eviction = figures.eviction
    return "\(eviction.bytesAfter * 100 / max(1, eviction.limit)) %"
  }

  private func row(_ title: String, _ content: String) -> String {
    "   " + title.padded(toWidth: 13) + content
  }

  private func size(_ byteCount: Int) -> String { ByteCount(Int64(byteCount)).description }

  private func speed(_ tally: DemoFigures.Tally) -> String {
    let each = tally.time / max(1, tally.count)
    return "\(tally.count) values in \(tally.time.measuredText), \(each.measuredText) each"
  }
}

extension String {
  /// The path, escaped for a terminal.
  fileprivate var escapedForDemo: String { Array(utf8).escapedForDisplay }
}

extension DemoReport {
  /// The directory in the order and with the times of `ls -ltu`, without its columns of owners. The
  /// time is that of the last use.
  var listing: [String] {
    let shown = entries.sorted(by: Self.isListedBefore).prefix(6)
    let width = shown.map { String($0.byteCount).count }.max() ?? 0
    let rows = shown.map { entry in
      let size = String(entry.byteCount).aligned(toWidth: width)
      return "   -rw------- \(size) \(entry.lastAccess.listText) \(entry.name)"
    }
    let rest = entries.count - shown.count
    return [style.bold("4. The directory, by last use as ls -ltu sorts it"), ""] + rows
      + (rest > 0 ? ["   ... and \(rest) more"] : [])
  }

  /// Whether `ls -t` shows an entry before another: by last use, the latest first, then by name.
  private static func isListedBefore(_ first: DiskEntry, _ second: DiskEntry) -> Bool {
    first.lastAccess == second.lastAccess
      ? first.name < second.name : first.lastAccess > second.lastAccess
  }

  /// Commands with which the user can check the report.
  var looking: [String] {
    let directory = Self.word(figures.directory)
    let key = example?.key?.text ?? ""
    let commands = [
      ("when each value was last used, the latest first", "ls -ltu \(directory)"),
      ("when each value expires", "ls -l --time-style=long-iso \(directory)"),
      ("what has not expired", "find \(directory) -type f -newermt now | wc -l"),
      ("the name of a key's file", "printf %s \(key.shellWord) | md5sum"),
      ("all that is known", "\(Self.word(program)) list --sort size \(directory)"),
      ("remove the demo's \(size(figures.eviction.bytesAfter)) again", "rm -r \(directory)"),
    ]
    return [style.bold("5. Look for yourself"), ""]
      + commands.flatMap { [style.dim("   # \($0.0)"), "   \($0.1)"] }
  }

  /// Returns the text as a shell word that is safe on a terminal, whatever the environment put into
  /// it.
  private static func word(_ text: String) -> String {
    text.isSafeForDisplay ? text.shellWord : text.pasteableWord
  }

  /// The entry of the `md5sum` example: the first whose key can be typed.
  private var example: DiskEntry? {
    entries.first { entry in
      guard let text = entry.key?.text else { return false }
      return !text.unicodeScalars.contains(where: \.isUnsafeForDisplay)
    }
  }
}
