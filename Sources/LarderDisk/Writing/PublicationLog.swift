import LarderSystem

/// A file that this process has published on a file system where files cannot prove their content.
struct Publication: Sendable, Equatable {
  /// XXH64 of the content.
  let contentHash: UInt64
  /// The expiry that the file got.
  var modification: Timestamp

  /// Whether a file's stamps can be those of the published file. An earlier expiry was set by a
  /// person; a later one can be that of a file that has replaced it.
  func admits(_ status: FileStatus) -> Bool { status.modification <= modification }
}

/// The files that this process has published on a file system where files cannot prove their
/// content.
struct PublicationLog: Sendable {
  private var publications: NameMap<Publication> = [:]
  /// The slot at which the next search for files that are gone begins.
  private var hand = 0
}

extension PublicationLog {
  /// The number of files.
  var count: Int { publications.count }

  /// The file that this process has published under a name.
  subscript(name: EntryName) -> Publication? { publications[name] }

  /// Notes a file that this process has published.
  ///
  /// When about twice as many files as entries are known, each store looks at two slots and forgets
  /// files that are gone, so no store looks at all of them.
  ///
  /// - Complexity: O(1).
  mutating func note(_ publication: Publication, of name: EntryName, in index: EntryIndex) {
    publications[name] = publication
    guard publications.count > 2 * index.count + Self.spareCount else { return }
    for other in publications.names(in: hand..<hand + 2) where !index.contains(other) {
      publications.removeValue(forKey: other)
    }
    hand = hand + 2 < publications.slotCount ? hand + 2 : 0
  }

  /// Notes that this process gave a file another expiry.
  mutating func noteStamp(_ modification: Timestamp, of name: EntryName) {
    guard var publication = publications[name] else { return }
    publication.modification = modification
    publications[name] = publication
  }

  /// The number of files that may be gone before any is looked for.
  private static let spareCount = 1024
}
