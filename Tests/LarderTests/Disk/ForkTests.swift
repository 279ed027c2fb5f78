import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `A fork` {}

extension `A fork` {
  @Test func `in the child every use is an error, and the parent's lock stays`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open { $0.mode = .exclusive }
      try cache.store([1], forKey: "k")
      let status = Fork.status {
        let areForked = DiskUses.codes(cache).allSatisfy { $0 == .forked }
        try cache.close()
        return areForked
      }
      #expect(status == 0)
      let handle = try DirectoryHandle.open(path: scene.path, faults: nil)
      #expect(try !handle.descriptor.tryLock(.shared))
      #expect(try cache.value(forKey: "k") == [1])
      try cache.close()
    }
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

  @Test func `a child closes its parent's cache without a lock of the parent's threads`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open(.bytes)
      try cache.store([1], forKey: "k")
      let gate = Gate()
      try startThread {
        let hold = {
          gate.pass()
          return false
        }
        _ = cache.memory.storeIf(
          hold, [2], forKey: "k", cost: 1, expiration: .never, ceiling: nil)
      }
      gate.waitUntilReached()
      let status = Fork.status {
        try cache.close()
        return true
      }
      gate.open()
      #expect(status == 0)
      #expect(try cache.tier(forKey: "k") == .memory)
      try cache.close()
      withExtendedLifetime(scene) {}
    }
  }

  @Test func `in a child what does not throw waits for no lock of the parent's threads`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open(.bytes)
      try cache.store([1], forKey: "k")
      let (engineGate, memoryGate) = (Gate(), Gate())
      try startThread { cache.disk.engine.withState { _ in engineGate.pass() } }
      try startThread {
        let hold = {
          memoryGate.pass()
          return false
        }
        _ = cache.memory.storeIf(
          hold, [2], forKey: "k", cost: 1, expiration: .never, ceiling: nil)
      }
      engineGate.waitUntilReached()
      memoryGate.waitUntilReached()
      let status = Fork.status {
        let statistics = cache.statistics
        let events = cache.disk.removals()
        defer { withExtendedLifetime(events) {} }
        return statistics.disk == DiskStatistics() && statistics.memory.stores == 0
          && cache.disk.statistics == DiskStatistics() && cache.memory.count == 0
          && cache.memory.totalCost == 0 && cache.memory.isEmpty
          && !cache.disk.engine.removals.isObserved.load(ordering: .relaxed)
      }
      engineGate.open()
      memoryGate.open()
      #expect(status == 0)
      #expect(cache.memory.count == 1 && cache.statistics.disk.stores == 1)
      try cache.close()
    }
  }

  @Test func `in a child removals from both tiers are errors, and wait for no lock`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open(.bytes)
      let (memoryGate, monitorGate) = (Gate(), Gate())
      try startThread { cache.memory.withStripe(at: 0) { _ in memoryGate.pass() } }
      let monitor = MemoryPressureMonitor()
      try startThread { monitor.watch?.state.withLock { _ in monitorGate.pass() } }
      memoryGate.waitUntilReached()
      monitorGate.waitUntilReached()
      let status = Fork.status {
        let uses: [() throws -> BulkRemoval] = [
          { try cache.trim(toCount: 0) }, { try cache.trim(toCost: 0) },
          { try cache.trim(toAge: .zero) }, { try cache.removeExpired() },
          { try cache.removeVariants(of: "k") },
        ]
        let codes = uses.map { use -> CacheError.Code? in
          do { _ = try use() } catch { return (error as? CacheError)?.code }
          return nil
        }
        cache.respond(to: .reduce(share: 0.5))
        monitor.attach(cache)
        monitor.signal()
        monitor.detach(cache)
        return codes.allSatisfy { $0 == .forked } && monitor.status.signals == 0
      }
      memoryGate.open()
      monitorGate.open()
      #expect(status == 0)
      try cache.close()
      withExtendedLifetime(scene) {}
    }
  }

  @Test func `a child that ends its parent's sequence of removals ends its own copy alone`() async {
    await #expect(processExitsWith: .success) {
      let observers = RemovalObservers<Int> { _, _ in }
      let events = observers.add(bufferingNewest: 1)
      let status = Fork.status {
        observers.finish()
        let own = observers.add(bufferingNewest: 1)
        withExtendedLifetime(own) {}
        return true
      }
      #expect(status == 0)
      let isObserved = observers.isObserved.load(ordering: .relaxed)
      #expect(isObserved)
      observers.tell(1)
      observers.finish()
      var count = 0
      for await _ in events { count += 1 }
      #expect(count == 1)
    }
  }

  /// A value whose end is seen.
  private final class Held: Sendable {
    private let ended: Counter

    init(_ ended: Counter) { self.ended = ended }

    deinit { ended.add() }
  }

  @Test func `a child that closes or releases its parent's cache ends nothing of it`() async {
    await #expect(processExitsWith: .success) {
      let ended = Counter()
      let coder = Coder<Held>(encode: { _ in [1] }, decode: { _ in Held(ended) })
      // The end of a cache uses generic types, which the runtime makes at their first use, under a
      // lock that another thread of this process may hold at the fork. So they are made before.
      let (first, scene) = (try DiskScene(), try DiskScene())
      var cache: Cache<Held>? = try first.open(coder)
      try cache?.store(Held(Counter()), forKey: "k")
      try cache?.close()
      cache = try scene.open(coder)
      try cache?.store(Held(ended), forKey: "k")
      let engine = try #require(cache?.disk.engine)
      let status = Fork.status {
        try cache?.close()
        guard ended.value == 0 else { return false }
        cache = nil
        return ended.value == 1 && !engine.observers.isEmpty
      }
      #expect(status == 0)
      #expect(try cache?.tier(forKey: "k") == .memory)
      cache = nil
      #expect(engine.observers.isEmpty)
      withExtendedLifetime((first, scene)) {}
    }
  }

  @Test func `a child does not wait for a removal that its parent's thread goes on with`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open()
      try cache.store([1], forKey: "k")
      let over = try cache.removeAllInBackground()
      #expect(try over.wait().removed == 1)
      try cache.store([1], forKey: "k")
      let gate = Gate()
      scene.faults.plan(.before { gate.pass() }, for: .unlinkat)
      let progress = try cache.removeAllInBackground()
      gate.waitUntilReached()
      let status = Fork.status {
        guard try over.wait().removed == 1 else { return false }
        do throws(CacheError) {
          try progress.wait()
          return false
        } catch {
          return error.code == .forked
        }
      }
      gate.open()
      #expect(status == 0)
      #expect(try progress.wait().removed == 1)
      try cache.close()
    }
  }

  @Test func `a child sweeps the memory that it inherited`() async {
    await #expect(processExitsWith: .success) {
      let clock = ManualClock(Timestamp(seconds: 1_000))
      var configuration = MemoryCache<Int, Int>.Configuration()
      configuration.clock = clock.wallClock
      configuration.sweepInterval = .milliseconds(200)
      let cache = MemoryCache<Int, Int>(configuration)
      cache.store(1, forKey: 1, expiration: .seconds(1))
      // A thread that has just begun may hold a lock of Swift's runtime, for which the child would
      // wait for ever. It holds none once it has done such jobs before. So this process does first
      // what the child does.
      let rehearsal = MemoryCache<Int, Int>(configuration)
      rehearsal.store(2, forKey: 2, expiration: .seconds(1))
      clock.advance(by: .seconds(2))
      #expect(Happening().wait { rehearsal.count == 0 })
      for _ in 0..<3 {
        let isDone = DispatchSemaphore(value: 0)
        JobTimer.own.submit(after: .milliseconds(5), to: cache.threads) { isDone.signal() }
        isDone.wait()
      }
      let status = Fork.status {
        cache.store(2, forKey: 2, expiration: .seconds(1))
        clock.advance(by: .seconds(2))
        return Happening().wait { cache.count == 0 }
      }
      #expect(status == 0)
    }
  }

  @Test func `a child opens the directory again for itself, beside its parent`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open()
      try cache.store([1], forKey: "k")
      let status = Fork.status {
        let own = try scene.open()
        let isFound = try own.value(forKey: "k") == [1]
        let isStored = try own.store([2], forKey: "child") == .stored
        try own.close()
        return isFound && isStored
      }
      #expect(status == 0)
      #expect(try cache.value(forKey: "child") == [2])
      try cache.close()
    }
  }

  @Test func `a child whose parent's threads are busy or idle has threads of its own`() async {
    await #expect(processExitsWith: .success) {
      let scene = try DiskScene()
      let cache = try scene.open { $0.sizeLimit = 1000 }
      try cache.store([1], forKey: "k")
      // The scan has ended and its threads are idle or will soon be, all of them in the last
      // rounds.
      #expect(try cache.count() == 1)
      let steps: (DiskScene) throws -> Int = { scene in
        let own = try scene.open { $0.sizeLimit = 1000 }
        try own.store([2], forKey: "child")
        let count = try own.count()
        try own.close()
        return count
      }
      // Before the fork, because a child may inherit the runtime's lock of types that are made.
      #expect(try steps(DiskScene()) == 1)
      for _ in 0..<20 {
        let status = Fork.status { try steps(scene) == 2 }
        #expect(status == 0)
      }
      try cache.close()
    }
  }

  @Test func `a child has none of its parent's jobs, and asynchronous calls have threads`() async {
    await #expect(processExitsWith: .success) {
      let cache = try DiskScene().open()
      let (ran, heard) = (Counter(), Happening())
      let job: @Sendable () -> Void = {
        ran.add()
        heard.tell()
      }
      let (own, isRefused) = (IOExecutor(threadLimit: 1), Shared(true))
      let starving = IOExecutor { body throws(Errno) in
        if isRefused.value { throw .noMemory }
        try startThread(body)
      }
      let isTaken = starving.submitAside(job)
      own.submit(job)
      #expect(heard.wait { ran.value == 1 })
      let status = Fork.status {
        isRefused.value = false
        own.submit(job)
        starving.submit(job)
        JobTimer.own.submit(after: .milliseconds(1), to: cache.executor, job)
        // The parent's job is not among them.
        starving.runReady()
        return heard.wait { ran.value == 4 }
      }
      #expect(status == 0 && !isTaken && ran.value == 1)
      starving.runReady()
      #expect(ran.value == 2)
    }
  }

  /// A number whose lock is held for so long that other threads have to wait.
  private final class Tally: Sendable {
    private let number = ForkSafeMutex(0)
    private let announced = Counter()
    var value: Int { number.withLock { $0 } }

    func announce() { announced.add() }

    func add(after announcements: Int = 0) {
      number.withLock { number in
        while announced.value < announcements {}
        // Longer than a thread spins before it sleeps.
        for step in 0..<20_000 { number += step & 1 }
        number -= 9_999
      }
    }
  }

  @Test func `a child leaves its parent's temporary directory`() async {
    await #expect(processExitsWith: .success) {
      var scratch: ScratchDirectory? = try ScratchDirectory("larder-test")
      let path = scratch?.path ?? ""
      let status = Fork.status {
        scratch = nil
        return true
      }
      #expect(status == 0)
      #expect(FileManager.default.fileExists(atPath: path))
      scratch = nil
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  enum Going: String, Codable, CaseIterable { case returns, writes, fails }

  @Test(arguments: Going.allCases)
  func `a child of a closure that writes a value leaves the value to its parent`(
    going: Going
  ) async {
    await #expect(processExitsWith: .success) { [going] in
      let scene = try DiskScene()
      let cache = try scene.open()
      try cache.store([1], forKey: "k")
      var child: Int32 = -1
      do {
        try cache.store(forKey: "k") { stream in
          try stream.write([2])
          child = Fork.fork()
          if child == 0 {
            if going == .writes { try stream.write([3]) }
            if going == .fails { throw CocoaError(.userCancelled) }
          } else {
            #expect(Fork.status(of: child) == 0)
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: scene.file("k")))) == [1])
            try stream.write([4])
          }
        }
      } catch {
        let code = (error as? CacheError)?.code
        if child == 0 { _exit(code == (going == .fails ? .callerFailed : .forked) ? 0 : 2) }
        throw error
      }
      if child == 0 { _exit(1) }
      #expect(try cache.value(forKey: "k") == [2, 4])
      try cache.close()
    }
  }

  @Test func `the thread that forked and another of the child wait for each other's locks`() async {
    await #expect(processExitsWith: .success) {
      // A thread gets its number when it first locks a mutex.
      Tally().add()
      let status = Fork.status {
        let (tally, ended) = (Tally(), Happening())
        try startThread {
          for _ in 0..<50 {
            tally.announce()
            tally.add()
          }
          ended.tell()
        }
        // The other thread waits for the lock when this one holds it for the first time.
        for _ in 0..<50 { tally.add(after: 1) }
        return ended.wait { tally.value == 100 }
      }
      #expect(status == 0)
    }
  }

  private final class Cell: Sendable {
    let content = PerProcess { Mutex(0) }
    var number: Int { content.own.value.withLock { $0 } }
  }

  @Test func `what each process has for itself is fresh in a child and in its child`() async {
    await #expect(processExitsWith: .success) {
      let cell = Cell()
      // Semaphores instead of a gate, because a gate locks a mutex. If the forking thread has
      // locked one before, Swift 6.3 ends its grandchild at the first lock with the message that
      // the lock is not held.
      let (locked, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      // Locked at the fork by a thread that the child does not have.
      try startThread {
        cell.content.own.value.withLock { number in
          number = 1
          locked.signal()
          opened.wait()
        }
      }
      locked.wait()
      let status = Fork.status {
        let first = cell.number
        cell.content.own.value.withLock { $0 = 2 }
        let grandchild = Fork.status { cell.number == 0 }
        return first == 0 && grandchild == 0 && cell.number == 2
      }
      opened.signal()
      #expect(status == 0)
      #expect(cell.number == 1)
    }
  }

  @Test func `a child has its own number, and so has its child`() async {
    await #expect(processExitsWith: .success) {
      let parent = ProcessIdentity.pid
      let status = Fork.status {
        let child = ProcessIdentity.pid
        let grandchild = Fork.status {
          ProcessIdentity.pid == getpid() && ProcessIdentity.pid != child
        }
        return child == getpid() && child != parent && grandchild == 0
      }
      #expect(status == 0 && parent == getpid() && ProcessIdentity.pid == parent)
    }
  }
}
