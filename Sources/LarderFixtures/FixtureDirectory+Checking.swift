package import LarderBasics
import LarderDisk
import LarderSystem

/// Something about a fixture that its authors should look at.
package struct FixtureFinding: Sendable, Hashable {
  /// What it is.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The manifest lists an entry that has no file.
    case missing
    /// A file is no line's.
    case unlisted
    /// The content is not what was recorded.
    case changed
    /// A read refuses the file: of another owner or version, too long, or not to be opened.
    case refused
    /// Several lines tell of one entry, as after a merge of branches that both recorded it.
    case doubled
    /// The key of the line has another name.
    case misnamed
    /// The lines are not as they are written: out of order, most likely after a merge.
    case unsorted
    /// Nothing keeps git from converting line endings.
    case unprotected
  }

  /// What it is.
  package let kind: Kind
  /// The file that it concerns.
  package let name: String
}

extension FixtureDirectory {
  /// Compares the entries with the manifest, and changes nothing.
  ///
  /// - Returns: The number of entries, and the findings in the order of their names.
  /// - Throws: `CacheError`: `.invalidArgument` for a manifest that is none, and as reading does.
  package func check() throws(CacheError) -> (entryCount: Int, findings: [FixtureFinding]) {
    let manifest = try manifest()
    var findings: [FixtureFinding] = []
    let names = try onFixture(path, "check") { () throws(Errno) in
      if try !has(Self.gitAttributesName) {
        findings.append(FixtureFinding(kind: .unprotected, name: ".gitattributes"))
      }
      if try text(of: FixtureManifest.fileName) ?? "" != manifest.text {
        findings.append(FixtureFinding(kind: .unsorted, name: "manifest"))
      }
      return try self.names()
    }
    let source = FixtureSource(handle, manifest, at: WallClock.system.now())
    for name in Set(names).union(manifest.lines.keys).sorted() {
      guard let kind = try finding(of: name, in: source) else { continue }
      findings.append(FixtureFinding(kind: kind, name: "\(name)"))
    }
    return (names.count, findings)
  }

  /// The first thing that is wrong with an entry; nil when all is well.
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
      return try onFixture(path, "check") { () throws(Errno) in
        try EntryReader.hash(of: file, line.extendedData) == line.contentHash ? nil : .changed
      }
    }
  }
}
