import Larder
import LarderFixtures

/// A problem in a fixture that its authors should look at.
struct FixtureFinding: Sendable, Hashable {
  /// The kind of problem.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The manifest lists an entry that has no file.
    case missing
    /// A file has no line in the manifest.
    case unlisted
    /// The content differs from the recorded one.
    case changed
    /// A read refuses the file: it has another owner or version, is too long, or cannot be opened.
    case refused
    /// An entry has several lines, as after a merge of branches that both recorded it.
    case doubled
    /// The key of the line belongs to another name.
    case misnamed
    /// The lines are not as the manifest writes them: out of order, most likely after a merge.
    case unsorted
    /// No `.gitattributes` keeps git from converting line endings, and from merging two recordings
    /// of one key.
    case unprotected
    /// The content has the marks of a conflict that git left in it.
    case conflicted
    /// The value has expired when the fixture's clock begins, so that a read misses it.
    case expired
  }

  /// The kind of problem.
  let kind: Kind
  /// The file that it concerns.
  let name: String
}

extension FixtureDirectory {
  /// Compares the entries with the manifest, and changes nothing.
  ///
  /// - Parameters:
  ///   - allowsExpired: Whether a value may have expired when the fixture's clock begins, as in a
  ///     fixture for tests of that.
  ///   - progress: Is called after each entry.
  /// - Returns: The number of entries, and the findings in the order of their names.
  /// - Throws: `CacheError`: `.invalidArgument` for a malformed manifest, and as reading does.
  func check(
    allowsExpired: Bool = false, _ progress: FixtureProgress = { _, _ in }
  ) throws(CacheError) -> (entryCount: Int, findings: [FixtureFinding]) {
    let manifest = try manifest()
    var findings: [FixtureFinding] = []
    let names = try onFixture(path, "check") { () throws(Errno) in
      let (attributes, names) = (try gitAttributes(), try self.names())
      // The names of entries to come are not known, and those of one fixture seldom differ in this.
      let samples = names.isEmpty ? [String(repeating: "0", count: 32)] : names.map { "\($0)" }
      let isKept = attributes.keepBytes(of: FixtureManifest.fileName.text)
      if !isKept || !samples.allSatisfy(attributes.protect) {
        findings.append(FixtureFinding(kind: .unprotected, name: ".gitattributes"))
      }
      if try handle.text(of: FixtureManifest.fileName) ?? "" != manifest.text {
        findings.append(FixtureFinding(kind: .unsorted, name: "manifest"))
      }
      return names
    }
    let source = FixtureSource(handle, manifest, at: WallClock.system.now())
    let listed = Set(names).union(manifest.lines.keys).sorted()
    for (index, name) in listed.enumerated() {
      defer { progress(index + 1, listed.count) }
      guard let kind = try finding(of: name, in: source), kind != .expired || !allowsExpired else {
        continue
      }
      findings.append(FixtureFinding(kind: kind, name: "\(name)"))
    }
    return (names.count, findings)
  }

  /// Returns the first problem of an entry; nil if there is none.
  private func finding(
    of name: EntryName, in source: FixtureSource
  ) throws(CacheError) -> FixtureFinding.Kind? {
    let lines = source.manifest.candidates(for: name)
    switch try source.open(name) {
    case .gone: return lines.isEmpty ? nil : .missing
    case .refused: return lines.isEmpty ? .unlisted : .refused
    case .file(let file, _):
      guard let line = lines.first else { return .unlisted }
      guard lines.count == 1 else { return .doubled }
      guard line.isNamedByItsKey else { return .misnamed }
      let start = source.manifest.latestAccess ?? Self.start
      return try onFixture(path, "check") { () throws(Errno) in
        if Self.hasConflict(try file.read(upTo: 16 << 20, at: 0)) { return .conflicted }
        let hash = try EntryReader.hash(of: file).finalize(with: line.extendedData)
        if hash != line.contentHash { return .changed }
        return line.isKept && line.expiry <= start ? .expired : nil
      }
    }
  }

  /// Whether content has the marks of a conflict, each at the beginning of a line and in git's
  /// order.
  static func hasConflict(_ content: [UInt8]) -> Bool {
    var marks = ["<<<<<<< ", "=======", ">>>>>>> "].map { Array($0.utf8) }[...]
    var start = 0
    while let mark = marks.first, start < content.count {
      if content[start...].starts(with: mark) { marks.removeFirst() }
      guard let end = content[start...].firstIndex(of: UInt8(ascii: "\n")) else { break }
      start = end + 1
    }
    return marks.isEmpty
  }
}
