import Testing

@testable import Larder
@testable import LarderDisk

/// The facts about an entry in the directory, for comparison with the index.
private struct Listing: Hashable {
  let name: EntryName
  let byteCount: UInt64
  let inode: UInt32
  let changeTime: Timestamp
  let expiry: Timestamp

  init(_ entry: IndexedEntry) {
    name = entry.name
    byteCount = entry.byteCount
    inode = entry.inode
    changeTime = entry.changeTime
    expiry = entry.expiry
  }
}

extension DiskScene {
  /// Expects that the index agrees with the directory, that every entry is sound, and that no
  /// temporary file is left.
  func expectConsistent(
    _ cache: DiskCache, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    faults.reset()
    _ = try cache.count()
    try cache.flush()
    let indexed = cache.engine.withState { state in
      state.catalog.index.checkInvariants()
      return state.catalog.index.entriesInOrder()
    }
    let onDisk = try scanned(cache)
    #expect(Set(indexed.map(Listing.init)) == onDisk, comment, sourceLocation: sourceLocation)
    let verification = try cache.verify()
    #expect(verification.damaged.isEmpty, comment, sourceLocation: sourceLocation)
    #expect(try cache.survey().temporaryCount == 0, comment, sourceLocation: sourceLocation)
    let state = cache.engine.withState { $0 }
    #expect(state.evictions.names.isEmpty && state.evictions.purge == nil, comment)
    #expect(!state.clearing.hidesFiles, comment)
    // The watcher's thread holds a name for a moment while it follows an event.
    try eventually("the names to be given back", sourceLocation: sourceLocation) {
      cache.engine.withState { $0.locks.isEmpty }
    }
  }

  private func scanned(_ cache: DiskCache) throws -> Set<Listing> {
    var found: Set<Listing> = []
    var scan = try DirectoryScan(cache.engine.location.handle, trust: cache.engine.reader.trust)
    while true {
      let piece = try scan.next()
      found.formUnion(piece.entries.map(Listing.init))
      if piece.isLast { return found }
    }
  }
}
