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
    return try onFixture(path, "check") { () throws(Errno) in
      var findings: [FixtureFinding] = []
      if try text(of: Self.gitAttributesName) == nil {
        findings.append(FixtureFinding(kind: .unprotected, name: ".gitattributes"))
      }
      if try text(of: FixtureManifest.fileName) ?? "" != manifest.text {
        findings.append(FixtureFinding(kind: .unsorted, name: "manifest"))
      }
      let names = try names()
      for name in Set(names).union(manifest.lines.keys).sorted() {
        guard let kind = try finding(of: name, manifest.lines[name]) else { continue }
        findings.append(FixtureFinding(kind: kind, name: "\(name)"))
      }
      return (names.count, findings)
    }
  }

  /// The first thing that is wrong with an entry; nil when all is well.
  private func finding(
    of name: EntryName, _ line: FixtureLine?
  ) throws(Errno) -> FixtureFinding.Kind? {
    guard let line else { return .unlisted }
    guard try hasEntry(name) else { return .missing }
    guard line.isNamedByItsKey else { return .misnamed }
    let file = try handle.openForReading(name.fileName)
    let hash = try EntryReader.hash(of: file, line.extendedData)
    return hash == line.contentHash ? nil : .changed
  }
}
