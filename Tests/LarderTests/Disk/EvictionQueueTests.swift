import Testing

@testable import Larder
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The queue of evictions, tested without threads or files.
@Suite("The queue of evictions")
struct EvictionQueueTests {
  private let victim = Victim(IndexSample.entry(1))

  /// Returns a lock without a file.
  private func lock() -> LockedFile { LockedFile(FileDescriptor(rawValue: -1, faults: nil)) }

  /// Adds an eviction of one victim. It is ready, or its victims are still being chosen.
  private func add(to queue: inout EvictionQueue, isReady: Bool = true) -> Eviction {
    let eviction = queue.begin()
    eviction.add([victim])
    if isReady { queue.endChoosing(eviction) }
    return eviction
  }

  @Test func `an empty queue wants no evictor`() {
    var queue = EvictionQueue()
    let start = queue.startEvictor()
    #expect(!start.mustRun && start.endedTerm == nil)
    #expect(queue.isAtRest && !queue.hasEvictor && queue.next() == nil)
  }

  @Test func `an eviction is carried out when all its victims are chosen`() {
    var queue = EvictionQueue()
    let eviction = add(to: &queue, isReady: false)
    let early = queue.startEvictor()
    #expect(!early.mustRun && !queue.hasEvictor && !queue.isAtRest && queue.next() == nil)
    queue.endChoosing(eviction)
    let start = queue.startEvictor()
    #expect(start.mustRun && queue.hasEvictor && !queue.isAtRest)
    #expect(queue.next() === eviction && queue.next() == nil)
    // The queue is not at rest while files are being removed.
    #expect(!queue.isAtRest)
    let isOver = queue.rest()
    #expect(isOver && queue.isAtRest)
  }

  @Test func `one thread at a time is the evictor`() {
    var queue = EvictionQueue()
    _ = add(to: &queue)
    let starts = (0..<3).map { _ in queue.startEvictor().mustRun }
    #expect(starts == [true, false, false])
  }

  @Test func `evictions that are ready go in their order, past one that is not`() {
    var queue = EvictionQueue()
    let first = add(to: &queue)
    let choosing = add(to: &queue, isReady: false)
    let last = add(to: &queue)
    let taken = (0..<3).map { _ in queue.next() }
    #expect(taken[0] === first && taken[1] === last && taken[2] == nil)
    #expect(queue.waiting.count == 1 && queue.waiting[0] === choosing)
  }

  @Test func `an eviction without victims is over at once`() {
    var queue = EvictionQueue()
    let other = add(to: &queue, isReady: false)
    let eviction = queue.begin()
    queue.endChoosing(eviction)
    #expect(eviction.result != nil && queue.waiting.count == 1)
    #expect(queue.waiting[0] === other && other.result == nil)
  }

  @Test func `the evictor stays for what became ready meanwhile`() {
    var queue = EvictionQueue()
    _ = add(to: &queue)
    _ = queue.startEvictor()
    _ = queue.next()
    let choosing = add(to: &queue, isReady: false)
    let mayRest = queue.rest()
    #expect(mayRest && !queue.hasEvictor && !queue.isAtRest)
    queue.endChoosing(choosing)
    let start = queue.startEvictor()
    _ = add(to: &queue)
    _ = queue.next()
    let mayRestAgain = queue.rest()
    #expect(start.mustRun && !mayRestAgain && queue.hasEvictor)
  }

  @Test func `there is one purge, and it ends with the choice of its victims`() {
    var queue = EvictionQueue()
    #expect(!queue.isPurging)
    let purge = queue.beginPurge(nil)
    purge.add([victim])
    let other = add(to: &queue)
    #expect(queue.isPurging && queue.term == nil)
    queue.endChoosing(other)
    #expect(queue.isPurging)
    queue.endChoosing(purge)
    #expect(!queue.isPurging && queue.waiting.count == 2)
  }

  @Test func `a limit that is left to a purge is enforced once after it`() {
    var queue = EvictionQueue()
    let isLeftToNone = queue.leaveToPurge()
    let purge = queue.beginPurge(nil)
    let isLeft = queue.leaveToPurge()
    queue.endChoosing(purge)
    let left = [queue.takeLeftPurge(), queue.takeLeftPurge()]
    #expect(!isLeftToNone && isLeft && left == [true, false])
  }

  @Test func `a purge keeps the term of the election before it`() {
    var queue = EvictionQueue()
    let lock = lock()
    let purge = queue.beginPurge(lock)
    purge.add([victim])
    queue.endChoosing(purge)
    // Another purge in the same term has no lock of its own.
    let second = queue.beginPurge(nil)
    #expect(queue.term === lock)
    queue.endChoosing(second)
    let start = queue.startEvictor()
    #expect(start.mustRun && start.endedTerm == nil && queue.term === lock)
    let taken = [queue.takeTerm(), queue.takeTerm()]
    #expect(taken[0] === lock && taken[1] == nil)
  }

  @Test(arguments: [true, false])
  func `a term lasts as long as victims are being chosen in it`(hasVictim: Bool) {
    var queue = EvictionQueue()
    let lock = lock()
    _ = add(to: &queue)
    _ = queue.startEvictor()
    _ = queue.next()
    let purge = queue.beginPurge(lock)
    if hasVictim { purge.add([victim]) }
    // The evictor has nothing left to do and leaves the term to the purge.
    let early = queue.takeTerm()
    #expect(early == nil && queue.term === lock)
    queue.endChoosing(purge)
    // The purge ends before the evictor rests, and asks for it.
    let start = queue.startEvictor()
    let mayRest = queue.rest()
    #expect(!start.mustRun && !mayRest && queue.hasEvictor)
    #expect((queue.next() === purge) == hasVictim)
    let term = queue.takeTerm()
    let mayRestNow = queue.rest()
    #expect(term === lock && mayRestNow && queue.isAtRest)
  }

  @Test func `an evictor rests while victims are being chosen in its term`() {
    var queue = EvictionQueue()
    let lock = lock()
    _ = add(to: &queue)
    _ = queue.startEvictor()
    queue.enterTerm(lock)
    _ = queue.next()
    let purge = queue.beginPurge(nil)
    let term = queue.takeTerm()
    let mayRest = queue.rest()
    #expect(term == nil && mayRest && queue.term === lock)
    queue.endChoosing(purge)
    let start = queue.startEvictor()
    #expect(start.endedTerm === lock && queue.term == nil)
  }

  @Test func `a term ends with its directory, also while victims are being chosen`() {
    var queue = EvictionQueue()
    let lock = lock()
    _ = queue.beginPurge(lock)
    let term = queue.abandonTerm()
    #expect(term === lock && queue.term == nil)
  }

  @Test func `a term in which nothing is left to do ends with the request for the evictor`() {
    var queue = EvictionQueue()
    let lock = lock()
    queue.endChoosing(queue.beginPurge(lock))
    let start = queue.startEvictor()
    #expect(!start.mustRun && start.endedTerm === lock && queue.term == nil)
  }

  @Test func `a term goes on while victims are being chosen`() {
    var queue = EvictionQueue()
    queue.enterTerm(lock())
    _ = add(to: &queue, isReady: false)
    let start = queue.startEvictor()
    #expect(!start.mustRun && start.endedTerm == nil && queue.term != nil)
  }
}
