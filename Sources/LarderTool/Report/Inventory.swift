import Larder

/// Everything in a cache's directory, as of one walk through it.
struct Inventory: Sendable {
  /// The entries in the order of their names, as `DiskCache.entries(byUse:)` returns them.
  private(set) var entries: [DiskEntry] = []
  /// Whether each of `entries` was not used since its store; false where that is not known.
  private(set) var unused: [Bool] = []
  /// The counts of what is in the directory.
  private(set) var survey = DirectorySurvey()
  /// What is not the cache's, up to a number.
  private(set) var foreign: [ForeignThing] = []
  /// The result of reading all values; nil if they were not read.
  private(set) var findings: Verification?
  /// The names of `entries`.
  private var names: [EntryName] = []
  private var index: EntryIndex
  private let configuration: DiskCache.Configuration
  private let now: Timestamp

  /// Makes an inventory of a fixture's copy one of the fixture: with the keys of the manifest, and
  /// without what the births of the copy's files tell.
  mutating func describe(_ fixture: FixtureCopy) {
    entries = entries.map(fixture.entry)
    unused = unused.map { _ in false }
  }

  /// What a trim would do with an entry.
  enum Fate: Sendable, Hashable {
    case stays
    case goesAsExpired
    case goesInOrder
  }

  /// Returns what a trim to a goal would do with each of `entries` if it ran now.
  func fates(under goal: TrimGoal) -> [Fate] {
    // The same plan as the removal itself makes.
    var left = index
    let victims = left.take(TrimPlan(for: goal, at: now, configuration))
    if victims.isEmpty { return Array(repeating: .stays, count: entries.count) }
    return zip(entries, names).map { entry, name in
      // An entry whose status cannot be read is in no index.
      guard !left.contains(name), index.contains(name) else { return .stays }
      return entry.isExpired(at: now) ? .goesAsExpired : .goesInOrder
    }
  }
}

extension DiskCache {
  /// Walks through the directory once, and opens every entry. Does not count as use.
  ///
  /// - Parameters:
  ///   - isChecking: Whether the contents are read and compared with their hashes.
  ///   - maximum: The most foreign things that are listed.
  ///   - progress: Is told of each look.
  /// - Complexity: O(n log n), and with `isChecking` O(bytes of all values).
  /// - Throws: `CacheError`, as `entries(byUse:)` does.
  func inventory(
    isChecking: Bool, foreignUpTo maximum: Int, reporting progress: WalkProgress = { _, _ in }
  ) throws(CacheError) -> Inventory {
    try checkWhole("inventory")
    return try engine.countingErrors { () throws(CacheError) in
      try Inventory(self, isChecking: isChecking, foreignUpTo: maximum, progress)
    }
  }
}

extension Inventory {
  fileprivate init(
    _ cache: DiskCache, isChecking: Bool, foreignUpTo maximum: Int, _ progress: WalkProgress
  ) throws(CacheError) {
    let engine = cache.engine
    configuration = engine.configuration
    now = engine.now
    index = EntryIndex(inClassesBy: configuration.valueMeasure)
    if isChecking { findings = Verification() }
    var names: [EntryName] = []
    func foreignThing(_ name: FileName) -> ForeignThing? {
      ForeignThing(name, in: engine.location.handle, engine.reader.trust)
    }
    try cache.walk("inventory", readsStatus: false) { piece in
      names += piece.names
      survey.temporaryCount += piece.temporaries.count
      for name in piece.foreign {
        if let name {
          if let thing = foreignThing(name) { add(thing, upTo: maximum) }
        } else {
          add(ForeignThing(name: nil, kind: .unknown), upTo: maximum)
        }
      }
      progress(names.count, nil)
    }
    survey.hasTag = try cache.hasTag("inventory")
    names.sort()
    for (index, name) in names.enumerated() {
      // Before the look, which reads the file and may move the last access if another user owns it.
      let isUnused = engine.location.handle.isUnused(name) == true
      let look = try cache.look(at: name, isChecking: isChecking)
      add(name, look, isUnused, upTo: maximum, foreignThing)
      progress(index + 1, names.count)
    }
  }

  private mutating func add(
    _ name: EntryName, _ look: EntryLook?, _ isUnused: Bool, upTo maximum: Int,
    _ foreignThing: (FileName) -> ForeignThing?
  ) {
    guard let look else {
      // There is no entry: the file was removed after the walk, is hidden, or is foreign. Only a
      // foreign one is listed.
      if let thing = foreignThing(name.fileName) { add(thing, upTo: maximum) }
      return
    }
    if let finding = look.finding { findings?.add(finding, name) }
    if let status = look.status { count(name, status) }
    entries.append(DiskEntry(look))
    names.append(name)
    unused.append(isUnused)
  }

  private mutating func count(_ name: EntryName, _ status: FileStatus) {
    let entry = IndexedEntry(name: name, status: status)
    survey.add(entry, now: now)
    index.upsert(entry, order: .byLastAccess)
  }

  private mutating func add(_ thing: ForeignThing, upTo maximum: Int) {
    survey.foreignCount += 1
    if foreign.count < maximum { foreign.append(thing) }
  }
}
