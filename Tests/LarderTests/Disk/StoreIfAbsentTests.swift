import Foundation
import Synchronization
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// Two engines on one directory, as two processes have them.
@Suite(.watched)
struct `Storing where there is no value` {}

extension `Storing where there is no value` {
  private final class Neighbour: Sendable {
    let engine: DiskEngine
    let request: StoreRequest
    private let outcomes = Mutex<[StoreOutcome]>([])

    init(of cache: DiskCache, isExclusive: Bool = true) throws {
      var configuration = cache.configuration
      configuration.faults = nil
      engine = DiskEngine(
        try DirectoryLocation(cache.directory, configuration), configuration)
      var request = cache.request("k", nil, [])
      request.isExclusive = isExclusive
      self.request = request
    }

    var all: [StoreOutcome] { outcomes.withLock { $0 } }

    func store() {
      do {
        let outcome = try engine.store([2].span, request)
        outcomes.withLock { $0.append(outcome) }
      } catch {
        Issue.record(error)
      }
    }
  }

  enum Occupant: CaseIterable, Sendable {
    case nothing, expired, damaged, link
  }

  private func prepare(_ occupant: Occupant, _ scene: DiskScene, _ cache: DiskCache) throws {
    switch occupant {
    case .nothing: break
    case .expired: try scene.plant([0], named: scene.name("k").text, expiry: scene.clock.now)
    case .damaged:
      try cache.store([1, 2, 3], forKey: "k")
      try scene.damage("k", to: [3, 2, 1])
    case .link:
      try FileManager.default.createSymbolicLink(
        atPath: scene.file("k"), withDestinationPath: "/nowhere")
    }
  }

  @Test func `says so when the system does not tell what is there`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try prepare(.expired, scene, cache)
    scene.faults.plan(.errno(.permissionDenied), for: .fstatat, at: 1, onwards: true)
    let error = #expect(throws: CacheError.self) { try cache.storeIfAbsent([1], forKey: "k") }
    #expect(error?.code == .permissionDenied)
    scene.faults.reset()
    #expect(try cache.storeIfAbsent([1], forKey: "k") == .stored)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test(arguments: [Occupant.nothing, .expired, .damaged], [SystemCall.renameat, .linkat, .flock])
  func `of two processes that try at once, one stores`(
    occupant: Occupant, call: SystemCall
  ) throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try prepare(occupant, scene, cache)
    let neighbour = try Neighbour(of: cache)
    // The neighbour's whole store happens between two steps of this one.
    for n in 1...3 { scene.faults.plan(.before { neighbour.store() }, for: call, at: n) }
    let outcome = try cache.storeIfAbsent([1], forKey: "k")
    let stored = ([outcome] + neighbour.all).count { $0 == .stored }
    #expect(stored == 1)
    scene.faults.reset()
    #expect(try cache.value(forKey: "k") == (outcome == .stored ? [1] : [2]))
  }

  @Test(
    arguments: [Occupant.nothing, .expired, .damaged],
    [SystemCall.renameat, .linkat, .flock, .fstatat, .openat, .unlinkat])
  func `replaces nothing that another process stores meanwhile`(
    occupant: Occupant, call: SystemCall
  ) throws {
    for n in 1...6 {
      let scene = try DiskScene()
      let cache = try scene.open()
      try prepare(occupant, scene, cache)
      let neighbour = try Neighbour(of: cache, isExclusive: false)
      scene.faults.plan(.before { neighbour.store() }, for: call, at: n)
      let outcome = try cache.storeIfAbsent([1], forKey: "k")
      scene.faults.reset()
      // The neighbour's store came before this one was published, which then finds it, or after it.
      #expect(try cache.value(forKey: "k") == (neighbour.all.isEmpty ? [1] : [2]), "\(n)")
      if neighbour.all.isEmpty { #expect(outcome == .stored) }
      #expect(try cache.survey().temporaryCount == 0)
    }
  }

  @Test(arguments: [SystemCall.renameat, .fstatat, .unlinkat])
  func `a failed sync takes back its own file and no newer one`(call: SystemCall) throws {
    for n in 1...4 {
      let scene = try DiskScene()
      let cache = try scene.open { $0.durability = .durable }
      // Ends the scan, which would find the neighbour's file for the index.
      #expect(try cache.count() == 0)
      let neighbour = try Neighbour(of: cache, isExclusive: false)
      let store: @Sendable () -> Void = {
        scene.faults.plan(.before { neighbour.store() }, for: call, at: n)
      }
      scene.faults.plan(.errno(.ioError), for: .fsync, at: 1)
      // The file already has its name when the directory is synced.
      scene.faults.plan(.before(store), for: .renameat, at: 1)
      #expect(throws: CacheError.self) { try cache.storeIfAbsent([1], forKey: "k") }
      try scene.expectConsistent(cache)
      #expect(try cache.value(forKey: "k") == (neighbour.all.isEmpty ? nil : [2]), "\(n)")
    }
  }

  @Test(arguments: [false, true])
  func `a failed sync whose file cannot be taken back leaves the index right`(
    isExclusive: Bool
  ) throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.durability = .durable }
    if !isExclusive { try cache.store([1], forKey: "k") }
    #expect(try cache.count() == (isExclusive ? 0 : 1))
    scene.faults.plan(.errno(.ioError), for: .fsync)
    // The first rename gives the file its name.
    scene.faults.plan(.errno(.ioError), for: .renameat, at: 2)
    scene.faults.plan(.errno(.ioError), for: .unlinkat, onwards: true)
    let error = #expect(throws: CacheError.self) {
      _ =
        isExclusive
        ? try cache.storeIfAbsent([2, 2], forKey: "k") : try cache.store([2, 2], forKey: "k")
    }
    #expect(error?.oldValueRemains == true)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: [DiskCache.Durability.relaxed, .durable], [1, 100])
  func `a file that the system tells nothing of any more is taken back`(
    durability: DiskCache.Durability, count: Int
  ) throws {
    let scene = try DiskScene()
    let cache = try scene.open { $0.durability = durability }
    scene.faults.plan(
      .before { scene.faults.plan(.errno(.ioError), for: .fstat, onwards: true) },
      for: durability == .durable ? .renameat : .linkat)
    let value = [UInt8](repeating: 1, count: count)
    let error = #expect(throws: CacheError.self) { try cache.storeIfAbsent(value, forKey: "k") }
    #expect(error?.code == .io)
    scene.faults.reset()
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try scene.names.isEmpty)
    #expect(try cache.storeIfAbsent(value, forKey: "k") == .stored)
    try scene.expectConsistent(cache)
  }

  @Test func `a failure after what holds no value is removed leaves the index right`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(1))
    #expect(try cache.count() == 1)
    scene.clock.advance(by: .seconds(2))
    // The first moves the expired file aside, and the second would give the new one its name.
    scene.faults.plan(.errno(.ioError), for: .renameat, at: 2)
    let error = #expect(throws: CacheError.self) { try cache.storeIfAbsent([2], forKey: "k") }
    #expect(error?.code == .io && error?.oldValueRemains == true)
    scene.faults.reset()
    #expect(try cache.count() == 0)
    try scene.expectConsistent(cache)
    try cache.close()
  }

  @Test func `a removed file that its store still holds open is in nobody's way`() throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let file = try cache.engine.location.handle.openForReading(scene.name("k"))
    #expect(try file.tryLock(.exclusive))
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .readdir)
    let progress = try cache.removeAllInBackground()
    gate.waitUntilReached()
    #expect(try cache.storeIfAbsent([2], forKey: "k") == .stored)
    gate.open()
    try progress.wait()
    #expect(try cache.value(forKey: "k") == [2])
    #expect(try file.status().linkCount == 0)
    try scene.expectConsistent(cache)
  }

  @Test(arguments: Occupant.allCases)
  func `what holds no value is in nobody's way`(occupant: Occupant) throws {
    let scene = try DiskScene()
    let cache = try scene.open()
    try prepare(occupant, scene, cache)
    #expect(try cache.storeIfAbsent([1], forKey: "k") == .stored)
    #expect(try cache.storeIfAbsent([2], forKey: "k") == .rejected(.alreadyPresent))
    #expect(try cache.value(forKey: "k") == [1])
    try scene.expectConsistent(cache)
  }
}
