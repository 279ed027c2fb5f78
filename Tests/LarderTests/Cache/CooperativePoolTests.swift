import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

@Suite(.watched)
struct CooperativePoolTests {
  /// More than twice the threads of Swift's pool, so that reads on its threads would block all of
  /// them.
  private let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2

  @Test func `more reads than cores wait for the disk, and unrelated tasks still run`() async throws
  {
    let scene = try DiskScene()
    let cache = try cache(in: scene)
    for number in 0..<count { try await cache.store("\(number)", forKey: "\(number)") }
    cache.memory.removeAll()
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .openat, onwards: true)
    let reads = (0..<count).map { number in
      Task { try await cache.value(forKey: "\(number)") }
    }
    await allAtGate(gate)
    #expect(scene.faults.struckCount == count)
    // If the reads were on threads of the pool, none of these tasks would begin.
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 0..<100 {
        group.addTask {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 4_950)
    gate.open()
    for (number, read) in reads.enumerated() { #expect(try await read.value == "\(number)") }
  }

  @Test func `a hit in memory is answered while every thread of the cache is held`() async throws {
    let scene = try DiskScene()
    let cache = try cache(in: scene)
    try await cache.store("value", forKey: "key")
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .openat, onwards: true)
    let reads = (0..<count).map { number in
      Task { try await cache.value(forKey: "absent \(number)") }
    }
    await allAtGate(gate)
    #expect(try await cache.value(forKey: "key") == "value")
    gate.open()
    for read in reads { #expect(try await read.value == nil) }
  }

  private func cache(in scene: DiskScene) throws -> Cache<String> {
    var configuration = CacheConfiguration()
    configuration.disk.clock = scene.clock.wallClock
    configuration.disk.faults = scene.faults
    // Without a limit, only the reads open files.
    configuration.disk.sizeLimit = nil
    configuration.disk.threadCount = count
    return try Cache(directory: scene.path, coder: .string, configuration: configuration)
  }

  /// Waits, on a new thread, until all reads are at the gate.
  private func allAtGate(_ gate: Gate) async {
    await withCheckedContinuation { continuation in
      do {
        try startThread { [count] in
          for _ in 0..<count { gate.waitUntilReached() }
          continuation.resume()
        }
      } catch {
        Issue.record(error)
        continuation.resume()
      }
    }
  }
}
