import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The term of a process as evictor, which lasts while it holds the lock on the tag.
@Suite(.serialized, .watched)
struct `The evictor's term` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }

  /// Opens the tag, as another process does.
  private func tag() throws -> FileDescriptor {
    try DirectoryHandle.open(path: scene.path, faults: nil).openForReading(
      DirectoryMaking.tagName)
  }

  /// Whether another process could evict.
  private func isTagFree() -> Bool {
    do {
      return try tag().tryLock(.exclusive)
    } catch {
      Issue.record(error)
      return false
    }
  }

  @Test func `a purge that finds no victim gives the tag back`() throws {
    let cache = try scene.open {
      $0.coherence = .events
      $0.freeSpaceLimit = .max
    }
    _ = try cache.count()
    try cache.store([1], forKey: "k")
    cache.engine.withState { $0.limits = LimitKeeper() }
    // The only entry is spared, so that there is a limit to keep but no victim.
    cache.engine.enforceLimits(after: DiskScene.name(of: Array("k".utf8)))
    #expect(cache.statistics.purges > 0 && cache.statistics.removals.isEmpty)
    // The end of the scan may check the limits as well.
    #expect(Happening().wait { isTagFree() })
    #expect(cache.engine.withState { $0.evictions.term == nil })
    try cache.close()
    #expect(isTagFree())
  }

  @Test func `a purge for free space follows when the neighbour that evicts is done`() throws {
    let cache = try scene.open {
      $0.coherence = .events
      $0.freeSpaceLimit = .max
      // The neighbour is waited for, however slow the machine is.
      $0.electionPatience = .seconds(3600)
    }
    _ = try cache.count()
    do {
      let neighbour = LockedFile(try tag())
      #expect(try neighbour.file.tryLock(.exclusive))
      try cache.store([1], forKey: "a")
      try cache.store([1], forKey: "b")
      #expect(cache.engine.withState { $0.limits.hasLostElection } && cache.statistics.purges == 0)
      withExtendedLifetime(neighbour) {}
    }
    #expect(Happening().wait { cache.statistics.purges > 0 })
    try cache.close()
  }

  @Test func `a process does not lose an election against itself`() throws {
    let cache = try scene.open {
      $0.coherence = .events
      $0.countLimit = 4
    }
    _ = try cache.count()
    let engine = cache.engine
    // Its evictor enters a term after another thread saw that there was none.
    scene.faults.plan(
      .before {
        guard case .won(let lock?) = engine.elect() else {
          Issue.record("the tag is locked")
          return
        }
        engine.withState { $0.evictions.enterTerm(lock) }
      }, for: .openat)
    #expect(engine.termToEvict() != nil)
    #expect(scene.faults.struckCount == 1)
    #expect(engine.withState { !$0.limits.hasLostElection })
    let term = engine.withState { $0.evictions.takeTerm() }
    withExtendedLifetime(term) {}
    try cache.close()
  }

  @Test func `a term ends although a forked child has inherited the tag`() throws {
    let cache = try scene.open {
      $0.coherence = .events
      $0.countLimit = 4
    }
    _ = try cache.count()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .unlinkat, at: 1)
    for number in 0..<5 { try cache.store([1], forKey: "\(number)") }
    gate.waitUntilReached()
    // Another descriptor of the same open file, as a forked child has it.
    let inherited = try #require(
      cache.engine.withState { state in state.evictions.term.map { dup($0.file.rawValue) } })
    defer { close(inherited) }
    gate.open()
    try cache.flush()
    #expect(Happening().wait { isTagFree() })
  }

  @Test func `a child that lets go of its parent's lock does not end it`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open()
      let tag = {
        try DirectoryHandle.open(path: scene.path, faults: nil).openForReading(
          DirectoryMaking.tagName)
      }
      let file = try tag()
      #expect(try file.tryLock(.exclusive))
      var lock: LockedFile? = LockedFile(file)
      let status = Fork.status {
        lock = nil
        return true
      }
      #expect(status == 0)
      #expect(try !tag().tryLock(.exclusive))
      _ = consume lock
      #expect(try tag().tryLock(.exclusive))
      try cache.close()
    }
  }
}
