package import LarderDigest

/// The file name of an entry: 32 lower-case hexadecimal digits, and an extension or none.
///
/// The full name is an entry's identity; two extensions of one digest are two entries.
package struct EntryName: Sendable, Hashable {
  /// A name and not a proof: the attribute says which key the file is of.
  package let digest: MD5Digest
  package let fileExtension: FileExtension

  package init(digest: MD5Digest, fileExtension: FileExtension) {
    self.digest = digest
    self.fileExtension = fileExtension
  }
}

extension EntryName {
  /// Feeds what tells names apart: the digest, and an extension where there is one.
  ///
  /// Most names have none, and every word costs a round of the keyed hash.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(digest.high)
    hasher.combine(digest.low)
    if fileExtension != .none { hasher.combine(fileExtension) }
  }
}

extension EntryName: Comparable {
  /// The order of the names as bytes, which is how ties of age are settled.
  package static func < (a: EntryName, b: EntryName) -> Bool {
    a.digest == b.digest ? a.fileExtension < b.fileExtension : a.digest < b.digest
  }
}
