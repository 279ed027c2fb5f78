import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct `Publishing` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `Publishing` {
  /// Returns a value whose length and bytes follow from its number, so that a torn one is
  /// recognised.
  private static func value(_ number: Int) -> [UInt8] {
    let byte = UInt8(truncatingIfNeeded: number)
    return [UInt8](repeating: byte, count: 1 + (number * 977) % 9000)
  }

  private static func isWhole(_ value: [UInt8]) -> Bool {
    guard let byte = value.first else { return false }
    return value.allSatisfy { $0 == byte }
  }

  @Test(arguments: [false, true])
  func `a reader never sees half an entry`(isDurable: Bool) throws {
    let cache = try scene.open { $0.durability = isDurable ? .durable : .relaxed }
    inThreads(6) { thread in
      do {
        for round in 0..<200 {
          let key = "\(round % 3)"
          if thread % 2 == 0 {
            try cache.store(Self.value(round * 6 + thread), forKey: key)
          } else if let value = try cache.value(forKey: key) {
            #expect(Self.isWhole(value))
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    #expect(cache.statistics.misses[.damaged] == nil)
    #expect(cache.statistics.stores == 600)
    try scene.expectConsistent(cache)
  }

  @Test func `stores, removals, reads and trims in many threads leave the index right`() throws {
    let cache = try scene.open {
      $0.sizeLimit = 60_000
      $0.recencyGranularity = .zero
    }
    inThreads(6) { thread in
      var random = SeededRandom(seed: UInt64(thread))
      do {
        for round in 0..<150 {
          let key = "\(Int.random(in: 0..<12, using: &random))"
          switch Int.random(in: 0..<10, using: &random) {
          case 0..<4: try cache.store(Self.value(round * 6 + thread), forKey: key)
          case 4: try cache.remove(forKey: key)
          case 5: try cache.storeIfAbsent(Self.value(round), forKey: key)
          case 6: try cache.trim(toCount: 6)
          default:
            if let value = try cache.value(forKey: key) { #expect(Self.isWhole(value)) }
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    try scene.expectConsistent(cache)
    #expect(try cache.totalSize() <= 60_000)
  }

  @Test func `of many threads that store if absent, one does`() throws {
    let cache = try scene.open()
    for round in 0..<30 {
      let stored = Counter()
      inThreads(6) { thread in
        do {
          let outcome = try cache.storeIfAbsent([UInt8(thread)], forKey: "\(round)")
          if outcome == .stored { stored.add() }
        } catch {
          Issue.record(error)
        }
      }
      #expect(stored.value == 1)
    }
    #expect(cache.statistics.rejections == [.alreadyPresent: 150])
    try scene.expectConsistent(cache)
  }

  @Test func `storing if absent takes the place of an expired value`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k", expiration: .seconds(10))
    #expect(try cache.storeIfAbsent([2], forKey: "k") == .rejected(.alreadyPresent))
    scene.clock.advance(by: .seconds(10))
    #expect(try cache.storeIfAbsent([2], forKey: "k") == .stored)
    #expect(try cache.value(forKey: "k") == [2])
  }

  @Test func `extended data come back with the value, up to 1,024 bytes`() throws {
    let cache = try scene.open()
    let data = (0..<1024).map { UInt8(truncatingIfNeeded: $0) }
    try cache.store([1], forKey: "k", extendedData: data)
    #expect(try cache.read(forKey: "k")?.extendedData == data)
    #expect(try cache.read(forKey: "k")?.extendedData == data)
    #expect(try cache.entry(forKey: "k")?.extendedData == data)
    #expect(throws: CacheError.self) {
      try cache.store([2], forKey: "k", extendedData: data + [0])
    }
    try cache.store([3], forKey: "k")
    #expect(try cache.read(forKey: "k")?.extendedData == [])
    try scene.expectConsistent(cache)
  }

  @Test func `values in pieces, of any length`() throws {
    let cache = try scene.open()
    for count in [0, 1, 4095, 4096, 300_000] {
      let outcome = try cache.store(forKey: "k", extendedData: [9]) { stream in
        for start in stride(from: 0, to: count, by: 1000) {
          try stream.write([UInt8](repeating: 5, count: min(1000, count - start)))
        }
        #expect(stream.byteCount == count)
      }
      #expect(outcome == .stored)
      #expect(try cache.value(forKey: "k") == [UInt8](repeating: 5, count: count))
    }
    try scene.expectConsistent(cache)
  }

  struct Failure: Error {}

  @Test func `a writer that throws leaves nothing, neither new nor old`() throws {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    let error = #expect(throws: CacheError.self) {
      try cache.store(forKey: "k") { stream in
        try stream.write([2, 3])
        throw Failure()
      }
    }
    #expect(error?.code == .callerFailed && error?.oldValueRemains == false)
    #expect(try cache.value(forKey: "k") == nil)
    #expect(try scene.names == [])
    try scene.expectConsistent(cache)
  }

  @Test func `a writer that goes on past a failed write stores nothing`() throws {
    let cache = try scene.open()
    scene.faults.plan(.errno(.ioError), for: .write, at: 2)
    let error = #expect(throws: CacheError.self) {
      try cache.store(forKey: "k") { stream in
        try stream.write([1])
        Self.writeRegardless([2], to: &stream)
        Self.writeRegardless([3], to: &stream)
      }
    }
    #expect(error?.errno == .ioError)
    #expect(try cache.value(forKey: "k") == nil)
    try scene.expectConsistent(cache)
  }

  private static func writeRegardless(_ bytes: [UInt8], to stream: inout EntryStream) {
    do {
      try stream.write(bytes)
      Issue.record("a stream that failed took more")
    } catch {}
  }

  @Test(arguments: [1, 7, 100])
  func `short writes and reads are made whole`(most: Int) throws {
    let cache = try scene.open()
    scene.faults.plan(.short(most), for: .write, onwards: true)
    scene.faults.plan(.short(most), for: .read, onwards: true)
    let value = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    try cache.store(value, forKey: "k")
    #expect(try cache.value(forKey: "k") == value)
    try scene.expectConsistent(cache)
  }

  @Test func `the mode of a file does not depend on the umask, nor its owner on the reader`() throws
  {
    let cache = try scene.open()
    try cache.store([1], forKey: "k")
    #expect(try scene.status(scene.name("k")).permissions == 0o600)
    try cache.store([2], forKey: "k")
    #expect(try scene.status(scene.name("k")).permissions == 0o600)
  }
}
