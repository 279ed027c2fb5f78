import Larder

/// What the demo says, made from what it measured.
struct DemoReport: Sendable {
  let figures: DemoFigures
  let entries: [DiskEntry]
  /// How the command was called.
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
      lines.append(row("before", "removed \(figures.leftovers) entries of an earlier demo"))
    }
    return lines
  }

  private var storing: [String] {
    [
      style.bold("1. Store and read"), "",
      row("stored", speed(figures.stores) + ", a file for each"),
      row("from disk", speed(figures.diskReads) + ", opened anew, each checked against its hash"),
      row("from memory", speed(figures.memoryReads) + ", the same bytes from the tier above"),
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

  /// The bytes left, in per cent of the limit, rounded down.
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
  /// The text escaped, for paths.
  fileprivate var escapedForDemo: String { Array(utf8).escapedForDisplay }
}
