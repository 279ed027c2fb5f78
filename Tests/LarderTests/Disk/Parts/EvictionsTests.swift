import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The choice of what is evicted and the outcome, tested without threads or files.
struct `The evictions of a process` {
  private let configuration = {
    var configuration = DiskCache.Configuration(sizeLimit: 1000)
    configuration.countLimit = 100
    return configuration
  }()

  /// Returns a state of entries 0, 1 and so on of 100 bytes, by a process that has stored one.
  private func state(_ count: Int) -> EngineState {
    var state = EngineState()
    state.catalog.scans.end(state.catalog.scans.begin(), .finished)
    for number in 0..<count {
      state.catalog.index.upsert(
        IndexSample.entry(number, used: Int64(number)), order: .byLastAccess)
    }
    state.counters.countStore(of: 100)
    return state
  }

  /// Chooses, and returns the number of the entry; nil if none was chosen.
  private func choose(
    _ progress: inout EvictionRun, in state: inout EngineState
  ) -> (victim: Victim, epoch: NameLocks.Epoch)? {
    guard case .remove(let victim, let epoch) = state.chooseVictim(&progress, configuration) else {
      return nil
    }
    return (victim, epoch)
  }

  private func settle(
    _ chosen: (victim: Victim, epoch: NameLocks.Epoch), _ outcome: RemovalOutcome,
    _ progress: inout EvictionRun, in state: inout EngineState
  ) {
    progress.add(outcome, of: chosen.victim)
    state.settle(
      evicted: chosen.victim, since: chosen.epoch, outcome, at: Timestamp(seconds: 1_000))
    let isFree = state.locks.giveBack(chosen.victim.entry.name)
    #expect(isFree)
  }

  private var purging: EvictionRun {
    EvictionRun(TrimPlan(now: Timestamp(seconds: 1_000)), isPurge: true)
  }

  @Test func `a thread that helps ends when the cache is used`() {
    var state = state(3)
    var plan = TrimPlan(now: Timestamp(seconds: 1_000), protected: nil)
    (plan.maximumCount, plan.lastUse) = (0, Timestamp(seconds: 1_000))
    var (run, help) = (EvictionRun(plan), EvictionRun(plan))
    help.isHelp = true
    let chosen = [choose(&run, in: &state) != nil, choose(&help, in: &state) != nil]
    _ = state.catalog.uses.issueAccess(at: Timestamp(seconds: 1_001))
    let isChosen = choose(&help, in: &state) != nil
    #expect(chosen == [true, true] && !isChosen && choose(&run, in: &state) != nil)
  }

  @Test func `a purge begins when a limit is passed, once, and one thread is asked`() {
    var state = state(10)
    let early = state.beginPurge(configuration, sparing: nil)
    #expect(!early && state.evictions.purge == nil)
    state.catalog.index.upsert(IndexSample.entry(10, used: 10), order: .mostRecent)
    let isPassed = state.beginPurge(configuration, sparing: IndexSample.name(10))
    let asked = [state.evictions.claimPurge(), state.evictions.claimPurge()]
    let isPassedAgain = state.beginPurge(configuration, sparing: IndexSample.name(3))
    #expect(isPassed && isPassedAgain && asked == [true, false])
    #expect(state.statistics.purges == 1 && state.evictions.purge?.spared == IndexSample.name(3))
    // An event that comes meanwhile spares no other entry.
    state.beginPurge(configuration, sparing: nil)
    #expect(state.evictions.purge?.spared == IndexSample.name(3))
  }

  @Test func `no purge begins before the first scan, after the end, or without a store`() {
    var (unscanned, ended, reader) = (EngineState(), state(11), EngineState())
    unscanned.counters.countStore(of: 1)
    ended.phase.advance(to: .shutDown)
    reader.catalog.scans.end(reader.catalog.scans.begin(), .finished)
    for number in 0..<11 {
      unscanned.catalog.index.upsert(IndexSample.entry(number), order: .byLastAccess)
      reader.catalog.index.upsert(IndexSample.entry(number), order: .byLastAccess)
    }
    let passed = [
      unscanned.beginPurge(configuration, sparing: nil),
      ended.beginPurge(configuration, sparing: nil),
      reader.beginPurge(configuration, sparing: nil),
    ]
    #expect(passed == [false, false, false])
  }

  @Test func `threads that evict at once take no entry too many`() {
    var state = state(11)
    state.beginPurge(configuration, sparing: IndexSample.name(10))
    var (first, second) = (purging, purging)
    var count = 0
    while true {
      let (one, other) = (choose(&first, in: &state), choose(&second, in: &state))
      if let one { settle(one, .removed, &first, in: &state) }
      if let other { settle(other, .removed, &second, in: &state) }
      count += (one == nil ? 0 : 1) + (other == nil ? 0 : 1)
      if one == nil && other == nil { break }
    }
    #expect(count == 6 && state.catalog.index.numbers() == [6, 7, 8, 9, 10])
    #expect(state.evictions.purge == nil && state.locks.isEmpty)
    #expect(state.statistics.removals == [.evicted: 6])
  }

  @Test func `a chosen entry has left the totals, and its name is held`() throws {
    var state = state(11)
    state.beginPurge(configuration, sparing: nil)
    var progress = purging
    let chosen = try #require(choose(&progress, in: &state))
    let name = IndexSample.name(0)
    #expect(chosen.victim.entry.name == name && state.catalog.index.totals.count == 10)
    #expect(state.locks.held == [name] && state.evictions.names == [name])
    settle(chosen, .removed, &progress, in: &state)
    #expect(state.locks.isEmpty && state.evictions.names.isEmpty)
  }

  @Test func `a held name is passed over, and the purge is left if no other can go`() {
    var state = state(11)
    state.beginPurge(configuration, sparing: IndexSample.name(10))
    _ = state.evictions.claimPurge()
    for number in [0, 2] { _ = state.locks.take(IndexSample.name(number)) }
    var progress = purging
    var chosen: [Int] = []
    while let next = choose(&progress, in: &state) {
      chosen += [next.victim].numbers
      settle(next, .removed, &progress, in: &state)
    }
    #expect(chosen == [1, 3, 4, 5, 6, 7] && state.evictions.purge == nil)
    // Nothing else is left.
    for number in [8, 9] { _ = state.locks.take(IndexSample.name(number)) }
    state.catalog.index.upsert(
      IndexSample.entry(11, used: 11, bytes: 900), order: .mostRecent)
    state.beginPurge(configuration, sparing: IndexSample.name(11))
    _ = state.locks.take(IndexSample.name(10))
    _ = state.evictions.claimPurge()
    if case .blocked = state.chooseVictim(&progress, configuration) {
      #expect(state.evictions.hasUnclaimedPurge)
    } else {
      Issue.record("not blocked")
    }
  }

  @Test func `what stays becomes an entry again, and its removal is not counted`() throws {
    var state = state(11)
    state.beginPurge(configuration, sparing: nil)
    state.catalog.uses.note(
      IndexSample.name(0), IndexSample.status(of: IndexSample.entry(0)), expiry: nil)
    var progress = purging
    // It failed: it keeps its use and is not chosen again.
    settle(try #require(choose(&progress, in: &state)), .failed(.ioError), &progress, in: &state)
    #expect(state.catalog.index.stuckTotals.count == 1 && !state.catalog.uses.isEmpty)
    // It changed: it takes its place by what the file says.
    var changed = IndexSample.entry(1, used: 50)
    changed.changeTime = Timestamp(seconds: 70)
    settle(try #require(choose(&progress, in: &state)), .changed(changed), &progress, in: &state)
    #expect(state.catalog.index.numbers() == [2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 0])
    // It is gone.
    settle(try #require(choose(&progress, in: &state)), .changed(nil), &progress, in: &state)
    #expect(state.catalog.index.totals.count == 10 && state.statistics.removals.isEmpty)
    #expect(progress.result.removed == 0 && progress.result.failed == 1)
  }

  @Test(arguments: [Errno.permissionDenied, .readOnlyFileSystem, .notPermitted])
  func `a refusal by the directory ends the purge, and leaves the victim in its place`(
    errno: Errno
  ) throws {
    var state = state(11)
    state.beginPurge(configuration, sparing: nil)
    var progress = purging
    settle(try #require(choose(&progress, in: &state)), .failed(errno), &progress, in: &state)
    let isOfFile = errno == .notPermitted
    #expect((state.evictions.purge != nil) == isOfFile)
    #expect((choose(&progress, in: &state) != nil) == isOfFile)
    #expect((state.catalog.index.stuckTotals.count == 1) == isOfFile)
    if !isOfFile { #expect(state.catalog.index.numbers() == Array(0..<11)) }
  }

  @Test(arguments: [true, false])
  func `what was removed or replaced as a whole since the choice does not come back`(
    isReplaced: Bool
  ) throws {
    for outcome in [RemovalOutcome.removed, .failed(.ioError), .changed(IndexSample.entry(0))] {
      var state = state(11)
      state.beginPurge(configuration, sparing: nil)
      var progress = purging
      let chosen = try #require(choose(&progress, in: &state))
      if isReplaced { _ = state.forgetDirectory() } else { _ = state.beginClearing() }
      if isReplaced { state.catalog.index.upsert(IndexSample.entry(0), order: .byLastAccess) }
      settle(chosen, outcome, &progress, in: &state)
      #expect(state.catalog.index.numbers() == (isReplaced ? [0] : []))
      #expect(state.catalog.index.stuck.nodes.count == 0)
    }
  }

  @Test func `missing space is free when as many bytes were removed, here or elsewhere`() throws {
    var state = state(5)
    state.beginPurge(configuration, sparing: nil, missing: 3 * 4096)
    var progress = purging
    for outcome in [RemovalOutcome.removed, .changed(nil), .failed(.ioError), .removed] {
      settle(try #require(choose(&progress, in: &state)), outcome, &progress, in: &state)
    }
    #expect(choose(&progress, in: &state) == nil && state.evictions.purge == nil)
    state.beginPurge(configuration, sparing: nil, missing: 3 * 4096)
    state.evictions.purge?.missing = 0
    #expect(choose(&progress, in: &state) == nil && state.catalog.index.totals.count == 2)
  }

  @Test func `a process looks around before it has stored a share of the room`() {
    var evictions = Evictions()
    #expect(evictions.mustLook)
    evictions.allow(room: 6_400)
    evictions.spend(99)
    #expect(!evictions.mustLook)
    evictions.spend(1)
    #expect(evictions.mustLook)
    evictions.allow(room: 0)
    #expect(evictions.mustLook)
  }

  @Test func `the free space is looked at every five seconds`() {
    var evictions = Evictions()
    let start = MonotonicTime.now
    let looks = [0, 0, 4_999, 5_000, 9_999, 10_000].map { milliseconds in
      evictions.beginFreeSpaceCheck(
        at: start.advanced(by: .milliseconds(milliseconds)), pause: .seconds(5))
    }
    #expect(looks == [true, false, false, true, false, true])
  }

  @Test func `a victim that has changed is chosen once more, and no third time`() throws {
    var index = IndexSample.index([IndexSample.entry(0)])
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: nil)
    plan.maximumCount = 0
    var progress = EvictionRun(plan)
    for _ in 0..<2 {
      let next = progress.takeNext(from: &index)
      let victim = try #require(next)
      index.upsert(victim.entry, order: .byLastAccess)
      progress.add(.changed(victim.entry), of: victim)
    }
    #expect(progress.takeNext(from: &index) == nil)
  }

  /// A store leaves the rest to the purge; that looks at each file, and once more.
  @Test(arguments: [(true, false, 128), (true, true, 400), (false, false, 400)])
  func `a thread gives up when every look finds another change`(
    spares: Bool, isPurge: Bool, most: Int
  ) {
    var index = IndexSample.index((0..<200).map { IndexSample.entry($0) })
    let spared = spares ? IndexSample.entry(200).name : nil
    var plan = TrimPlan(now: Timestamp(seconds: 0), protected: spared)
    plan.maximumCount = 0
    var progress = EvictionRun(plan, isPurge: isPurge)
    var count = 0
    while let victim = progress.takeNext(from: &index) {
      index.upsert(victim.entry, order: .byLastAccess)
      progress.add(.changed(victim.entry), of: victim)
      count += 1
    }
    #expect(count == most && index.totals.count == 200)
  }
}
