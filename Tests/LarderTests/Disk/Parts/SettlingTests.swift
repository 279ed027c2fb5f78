import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// What follows when something is found of a name, as a table: by the event, the evidence (whether
/// this process has changed the name since) and what the index has.
struct `What is found of a name` {
  /// The finding. A file that was met has inode 1 and the change time 10.
  enum Event: CaseIterable {
    /// A look, after an event or with the name held, has met a file or none. Of none that was
    /// passing, there was a file before.
    case met, free, passing
    /// The status could not be read.
    case failure
    /// The first scan met the file, or a later one.
    case firstScan, laterScan
    /// A read found no file, or one that has expired.
    case absent, expired
    /// A read has served a file, without events, with events, or one that has lost its name.
    case hit, hitWithEvents, unlinked
  }

  /// What the index has of the name.
  enum Known: CaseIterable {
    /// Nothing, or nothing during a removal of everything.
    case nothing, hidden
    /// The file in the state that was met, in an earlier one, another file, or one that is younger.
    case same, stamped, other, younger

    static let none: [Known] = [.nothing, .hidden]
    static let others: [Known] = [.stamped, .other, .younger]
    static let indexed: [Known] = [.same, .stamped, .other, .younger]
  }

  /// What the index has afterwards.
  enum Left { case asBefore, met, nothing }

  struct Row: CustomTestStringConvertible {
    let events: [Event]
    /// Whether the finding is current; nil for either.
    let isCurrent: Bool?
    let known: [Known]
    let effects: Effects
    var left = Left.asBefore

    var testDescription: String { "\(events) \(isCurrent.map(String.init) ?? "-") \(known)" }

    func names(_ event: Event, _ isCurrent: Bool, _ known: Known) -> Bool {
      events.contains(event) && self.isCurrent != !isCurrent && self.known.contains(known)
    }
  }

  static let rows = [
    Row(
      events: [.failure], isCurrent: true, known: Known.allCases, effects: [.isLearned, .rescans]),
    Row(
      events: [.failure], isCurrent: false, known: Known.allCases,
      effects: [.isLearned, .rescans, .looks]),
    // A file was met.
    Row(
      events: [.met, .firstScan, .laterScan], isCurrent: nil, known: [.same], effects: []),
    Row(
      events: [.met, .firstScan, .laterScan], isCurrent: false, known: Known.none + Known.others,
      effects: .looks),
    Row(events: [.met], isCurrent: true, known: Known.others, effects: .isLearned, left: .met),
    Row(
      events: [.firstScan, .laterScan], isCurrent: true, known: [.stamped, .other],
      effects: .isLearned, left: .met),
    Row(events: [.firstScan, .laterScan], isCurrent: true, known: [.younger], effects: .looks),
    Row(
      events: [.met, .laterScan], isCurrent: true, known: [.nothing], effects: .isLearned,
      left: .met),
    Row(
      events: [.firstScan], isCurrent: true, known: [.nothing], effects: .forgets, left: .met),
    Row(events: [.met], isCurrent: true, known: [.hidden], effects: .isLearned),
    Row(events: [.firstScan, .laterScan], isCurrent: true, known: [.hidden], effects: []),
    // The name is free.
    Row(
      events: [.free, .passing], isCurrent: false, known: Known.allCases, effects: .looks),
    Row(events: [.free], isCurrent: true, known: Known.none, effects: .outdatesReaders),
    Row(events: [.passing], isCurrent: true, known: Known.none, effects: .isLearned),
    Row(
      events: [.free, .passing], isCurrent: true, known: Known.indexed, effects: .isLearned,
      left: .nothing),
    // Reads.
    Row(events: [.absent], isCurrent: true, known: Known.indexed, effects: .looks),
    Row(events: [.absent], isCurrent: true, known: Known.none, effects: []),
    Row(events: [.absent, .expired], isCurrent: false, known: Known.allCases, effects: []),
    Row(events: [.expired], isCurrent: true, known: Known.none + [.same], effects: []),
    Row(
      events: [.expired], isCurrent: true, known: [.stamped, .other], effects: .isLearned,
      left: .met),
    Row(events: [.expired], isCurrent: true, known: [.younger], effects: .looks),
    Row(
      events: [.hit, .hitWithEvents], isCurrent: false,
      known: Known.none + [.other, .younger], effects: .isStray),
    Row(events: [.hit, .hitWithEvents], isCurrent: true, known: [.hidden], effects: .isStray),
    Row(events: [.hit, .hitWithEvents], isCurrent: true, known: [.same], effects: []),
    // Two changes within one tick of the clock.
    Row(events: [.hit, .hitWithEvents], isCurrent: false, known: [.same], effects: .isOlder),
    Row(events: [.hit], isCurrent: false, known: [.stamped], effects: []),
    Row(events: [.hit], isCurrent: true, known: [.nothing] + Known.others, effects: []),
    Row(events: [.hitWithEvents], isCurrent: true, known: [.nothing], effects: .forgets),
    Row(events: [.hitWithEvents], isCurrent: nil, known: [.stamped], effects: .isLearned),
    Row(events: [.hitWithEvents], isCurrent: true, known: [.other], effects: .isLearned),
    Row(
      events: [.hitWithEvents], isCurrent: true, known: [.younger],
      effects: [.outdatesReaders, .isOlder]),
    Row(
      events: [.unlinked], isCurrent: true, known: [.nothing],
      effects: [.outdatesReaders, .isStray]),
    Row(events: [.unlinked], isCurrent: true, known: [.hidden], effects: .isStray),
    Row(
      events: [.unlinked], isCurrent: true, known: Known.indexed,
      effects: [.outdatesReaders, .isOlder]),
    Row(
      events: [.unlinked], isCurrent: false, known: Known.none + [.other, .younger],
      effects: .isStray),
    Row(events: [.unlinked], isCurrent: false, known: [.same, .stamped], effects: .isOlder),
  ]

  private let name = IndexSample.name(1)

  private func entry(inode: UInt32 = 1, changed: Int64 = 10, used: Int64 = 1) -> IndexedEntry {
    var entry = IndexSample.entry(1, used: used)
    entry.inode = inode
    entry.changeTime = Timestamp(seconds: changed)
    return entry
  }

  private func entry(_ known: Known) -> IndexedEntry? {
    switch known {
    case .nothing, .hidden: nil
    case .same: entry()
    case .stamped: entry(changed: 5)
    case .other: entry(inode: 2, changed: 5)
    case .younger: entry(inode: 2, changed: 20)
    }
  }

  /// Returns a state during a scan that has met nothing yet.
  private func state(_ known: Known, _ event: Event) -> EngineState {
    var state = EngineState()
    if event != .firstScan { state.catalog.scans.end(state.catalog.scans.begin(), .finished) }
    if known == .hidden { _ = state.beginClearing() }
    if let entry = entry(known) { state.catalog.index.upsert(entry, order: .byLastAccess) }
    state.catalog.scans.beginReading(state.catalog.scans.begin(), state.catalog.index.emptyMarks())
    return state
  }

  private func finding(_ event: Event, in state: EngineState) -> Finding {
    let evidence: Evidence =
      switch event {
      case .met, .free, .passing: .look
      case .failure: .failure(.ioError)
      case .firstScan, .laterScan: .scan(state.catalog.scans.number)
      case .absent, .expired: .miss
      case .hit: .hit(isUnlinked: false, hasEvents: false)
      case .hitWithEvents: .hit(isUnlinked: false, hasEvents: true)
      case .unlinked: .hit(isUnlinked: true, hasEvents: false)
      }
    let isFree = [.free, .passing, .failure, .absent].contains(event)
    return Finding(
      name: name, met: isFree ? nil : entry(), evidence: evidence, hadFile: event == .passing)
  }

  @Test func `has one row for each event, evidence and state of the index`() {
    for event in Event.allCases {
      for known in Known.allCases {
        for isCurrent in [true, false] {
          let count = Self.rows.count { $0.names(event, isCurrent, known) }
          #expect(count == 1, "\(event), current \(isCurrent), \(known)")
        }
      }
    }
  }

  @Test(arguments: rows) func `has the effects of its row`(row: Row) {
    for event in row.events {
      for known in row.known {
        for isCurrent in [true, false] where row.isCurrent != !isCurrent {
          var state = state(known, event)
          let effects = state.settle(
            finding(event, in: state), isCurrent: isCurrent, at: Timestamp(seconds: 100))
          let left = state.catalog.index.entry(named: name)
          #expect(effects == row.effects, "\(event), current \(isCurrent), \(known)")
          switch row.left {
          case .asBefore: #expect(left == entry(known), "\(event), \(known)")
          case .met: #expect(left == entry(), "\(event), \(known)")
          case .nothing: #expect(left == nil, "\(event), \(known)")
          }
        }
      }
    }
  }

  @Test func `has another scan follow if a removal of everything hides it`() {
    for event in [Event.met, .firstScan, .laterScan] {
      var state = state(.hidden, event)
      _ = state.settle(finding(event, in: state), isCurrent: true, at: Timestamp(seconds: 100))
      #expect(state.catalog.scans.hasMissedChanges, "\(event)")
    }
  }

  @Test func `has the blocks that the file system has given or taken since`() {
    var (state, met) = (state(.same, .met), entry())
    met.allocatedByteCount += 4096
    let effects = state.settle(
      Finding(name: name, met: met, evidence: .look), isCurrent: true, at: Timestamp(seconds: 100))
    #expect(effects == [] && state.catalog.index.entry(named: name) == met)
    #expect(state.catalog.index.totals.allocatedByteCount == met.allocatedByteCount)
  }

  // ext4 gives a free inode to the next file, and two changes within a tick have one change time.
  @Test func `is another file if an event tells of one that differs by a later use alone`() {
    var state = state(.same, .met)
    var known = entry()
    known.check = FileCheck(lifetime: .never, keyTag: 1, hasData: false)
    state.catalog.index.upsert(known, order: .byLastAccess)
    let effects = state.settle(
      Finding(name: name, met: entry(used: 50), evidence: .look), isCurrent: true,
      at: Timestamp(seconds: 100))
    #expect(effects == .isLearned)
    #expect(state.catalog.index.entry(named: name) == entry(used: 50))
    let access = state.catalog.uses.issueAccess(at: Timestamp(seconds: 50))
    #expect(access > Timestamp(seconds: 50))
  }

  @Test func `voids a use that is still to be stamped if the file is gone, and counts that once`() {
    var state = state(.same, .free)
    state.catalog.uses.note(name, IndexSample.status(of: entry()), expiry: nil)
    for _ in 0..<2 {
      _ = state.settle(finding(.free, in: state), isCurrent: true, at: Timestamp(seconds: 100))
      #expect(state.statistics.stampsDropped == 1 && state.catalog.uses.isEmpty)
    }
  }
}
