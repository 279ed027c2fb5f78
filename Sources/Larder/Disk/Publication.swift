/// What this process knows of a file that it published itself, where the file cannot say so.
struct Publication: Sendable {
  /// XXH64 of the content.
  let contentHash: UInt64
  /// The expiry that it got.
  var modification: Timestamp

  /// Whether a file's stamps can be its own. An earlier expiry is a person's word; a later one can
  /// be that of the file which has replaced it.
  func admits(_ status: FileStatus) -> Bool { status.modification <= modification }
}

extension EngineState {
  /// Remembers what was published under a name.
  mutating func notePublication(_ publication: Publication, of name: EntryName) {
    publications[name] = publication
    // What others removed is forgotten two slots a store, so that nobody pays for all of it.
    guard publications.count > 2 * index.count + 1024 else { return }
    for other in publications.names(in: publicationHand..<publicationHand + 2)
    where !index.contains(other) {
      publications.removeValue(forKey: other)
    }
    publicationHand = publicationHand + 2 < publications.slotCount ? publicationHand + 2 : 0
  }
}
