import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// Operations in progress while the directory's last object is closed.
@Suite(.watched)
struct `Closing while something is going on` {
  private let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `Closing while something is going on` {
  @Test(arguments: [SystemCall.renameat, .unlinkat])
  func `waits for a store or removal that is about to change its name`(call: SystemCall) throws {
    let cache = try scene.open { $0.mode = .exclusive }
    try cache.store([0], forKey: "k")
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: call, at: 1)
    let change = inBackground {
      if call == .renameat { return try cache.store([1], forKey: "k") == .stored }
      return try cache.remove(forKey: "k")
    }
    gate.waitUntilReached()
    gate.expectToHold { try cache.close() }
    #expect(try change().get())
    let again = try scene.open { $0.mode = .exclusive }
    #expect(try again.value(forKey: "k") == (call == .renameat ? [1] : nil))
    try again.close()
  }

  @Test func `a cancelled task closes all the same`() async throws {
    let (disk, cache) = (try scene.open(), try scene.open(.bytes))
    let task = Task {
      try await eventually("the cancellation") { () async in Task.isCancelled }
      try await disk.close()
      try await cache.close()
    }
    task.cancel()
    try await task.value
    for isOpen in [{ try disk.value(forKey: "k") }, { try cache.value(forKey: "k") }] {
      let error = #expect(throws: CacheError.self) { try isOpen() }
      #expect(error?.code == .closed)
    }
  }

  @Test func `lets nothing appear of a store that is still being written`() throws {
    let cache = try scene.open { $0.mode = .exclusive }
    try cache.store([0], forKey: "k")
    let gate = Gate()
    scene.faults.plan(.before { gate.pass() }, for: .futimens, at: 1)
    let store = inBackground { try cache.store([1], forKey: "k") }
    gate.waitUntilReached()
    try cache.close()
    let again = try scene.open { $0.mode = .exclusive }
    gate.open()
    let error = #expect(throws: CacheError.self) { try store().get() }
    #expect(error?.code == .closed && error?.oldValueRemains == true)
    #expect(try again.value(forKey: "k") == [0])
    try again.close()
    #expect(try scene.names.count == 1)
  }

  @Test func `accepts nothing more to be written later`() throws {
    let cache = try scene.open { $0.writeBehindLimit = Backlog.cost(of: 100, "full", []) }
    cache.blockWriter()
    try cache.store([UInt8](repeating: 1, count: 100), forKey: "full")
    // Accepted while the shutdown already writes the waiting values.
    let store = inBackground { try cache.store([2], forKey: "waits for room") }
    try eventually("a store that waits for room") {
      cache.withBacklog { !$0.line.isEmpty }
    }
    // As closing the last object does, after what was accepted before is written.
    cache.behind?.end()
    let error = #expect(throws: CacheError.self) { try store().get() }
    #expect(error?.code == .closed)
    #expect(try scene.names == [scene.name("full").text])
    try cache.close()
  }

  @Test func `may be done by the closure that writes a value in pieces`() throws {
    let cache = try scene.open()
    let error = #expect(throws: CacheError.self) {
      try cache.store(forKey: "k") { stream in
        try stream.write([1])
        try cache.close()
      }
    }
    #expect(error?.code == .closed)
    #expect(try scene.names.isEmpty)
  }
}
