import Larder

extension Verb {
  /// `larder diff`
  static let diff = Verb(
    name: "diff",
    summary: "Compare the entries of two directories",
    synonyms: ["compare", "cmp", "delta"],
    operands: [.directory, .otherDirectory],
    notes: [
      """
      Compared are contents, extended data, expiries, lifetimes and keys; the last use is not. A \
      difference gives status 1. In each line - is only in DIR, + only in DIR2, ~ in both and \
      different.
      """
    ],
    run: { call throws(Failure) in try call.diff() })
}

extension Call {
  /// Shows the differences between two directories.
  func diff() throws(Failure) -> ExitCode {
    let other = arguments[.otherDirectory].first ?? []
    let caches = (try openForReading(), try openForReading(other))
    for directory in [arguments.directory, other] {
      let path = try Self.path(of: directory)
      let isFixture = try onCache(directory) { () throws(CacheError) in
        try FixtureCopy.isFixture(path)
      }
      if !isFixture { continue }
      throw .usage(
        "\(directory.quotedForDisplay) is a fixture, with the stamps of a checkout; compare what "
          + "larder fixture unpack makes of it")
    }
    let left = try entries(of: caches.0)
    let right = try entries(of: caches.1, other)
    sayUnreadable(left + right)
    var difference = DirectoryDifference()
    for (old, new) in Self.paired(left, right) {
      if let old, let new {
        var shown = new
        if new.key == nil { (shown.key, shown.keyHint) = (old.key, new.keyHint ?? old.keyHint) }
        difference.add(shown, try changes(old, new, caches, other))
      } else if let old {
        difference.onlyLeft.append(old)
      } else if let new {
        difference.onlyRight.append(new)
      }
    }
    try show(difference)
    return difference.isEmpty ? .fine : .finding
  }

  private func show(_ difference: DirectoryDifference) throws(Failure) {
    guard !isJSON else { return try console.print(difference.json) }
    try console.print(difference.lines(width: console.width, style: console.style))
    if let word = difference.changed.first?.entry.key?.shellWord {
      suggest("why", word, "says more of one entry")
    }
  }

  /// Pairs the entries of two lists, each in the order of its names. An entry without a partner is
  /// paired with nil.
  private static func paired(
    _ left: [DiskEntry], _ right: [DiskEntry]
  ) -> [(DiskEntry?, DiskEntry?)] {
    var pairs: [(DiskEntry?, DiskEntry?)] = []
    var (i, j) = (left.startIndex, right.startIndex)
    while i < left.endIndex || j < right.endIndex {
      // The end of a list counts as a name after all others.
      let isLeft = j == right.endIndex || (i < left.endIndex && left[i].name <= right[j].name)
      let isRight = i == left.endIndex || (j < right.endIndex && right[j].name <= left[i].name)
      pairs.append((isLeft ? left[i] : nil, isRight ? right[j] : nil))
      if isLeft { i += 1 }
      if isRight { j += 1 }
    }
    return pairs
  }

  /// Returns the differences between two entries of one name.
  private func changes(
    _ old: DiskEntry, _ new: DiskEntry, _ caches: (DiskCache, DiskCache), _ other: [UInt8]
  ) throws(Failure) -> [DirectoryDifference.Change] {
    // An unreadable entry cannot be compared, so it must not count as the same.
    if !old.isReadable || !new.isReadable { return [.unreadable] }
    var changes: [DirectoryDifference.Change] = []
    if try !isSameContent(old, new, caches, other) { changes.append(.content) }
    if old.extendedData != new.extendedData { changes.append(.extendedData) }
    if old.expiry != new.expiry { changes.append(.expiry) }
    if old.lifetime?.json != new.lifetime?.json { changes.append(.lifetime) }
    // Of a key that is kept as a digest, its end tells that it is kept.
    if old.key != new.key || old.keyHint != new.keyHint { changes.append(.key) }
    return changes
  }

  /// Returns whether two entries have the same content. Reads only contents of the same length.
  private func isSameContent(
    _ old: DiskEntry, _ new: DiskEntry, _ caches: (DiskCache, DiskCache), _ other: [UInt8]
  ) throws(Failure) -> Bool {
    guard old.byteCount == new.byteCount, let name = EntryName(Array(old.name.utf8)) else {
      return false
    }
    let left = try onCache { () throws(CacheError) in try caches.0.contentHash(of: name) }
    let right = try onCache(other) { () throws(CacheError) in try caches.1.contentHash(of: name) }
    return left == right
  }
}
