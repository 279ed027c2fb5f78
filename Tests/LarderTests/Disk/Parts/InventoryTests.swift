import Foundation
import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem
@testable import LarderTool

/// The looks at many files, and the one walk of a report.
@Suite(.serialized, .watched)
struct `An inventory` {
  let scene: DiskScene

  init() throws {
    scene = try DiskScene()
  }
}

extension `An inventory` {
  /// Returns a cache with so many entries. They are links to one file, because creating thousands
  /// of files takes a minute on some disks.
  private func filled(_ count: Int) throws -> DiskCache {
    let cache = try scene.open()
    try scene.plant([1, 2], named: "a foreign file")
    for number in 0..<count {
      try FileManager.default.linkItem(
        atPath: "\(scene.path)/a foreign file", toPath: scene.file("key \(number)"))
    }
    return cache
  }

  @Test func `has in one walk what listing, counting, verifying and a preview find`() throws {
    let writer = try scene.open()
    for number in 0..<9 {
      try writer.store(
        Array(repeating: 7, count: number), forKey: "k\(number)",
        expiration: .seconds(number < 2 ? 1 : 100))
      scene.clock.advance(by: .milliseconds(500))
    }
    try Data("damage".utf8).write(to: URL(fileURLWithPath: scene.file("k6")))
    try scene.plant([1], named: "foreign")
    try scene.plant([1], named: ".larder-1-1")
    try FileManager.default.createDirectory(
      atPath: scene.file("a directory"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: scene.file("a link"), withDestinationPath: "nowhere")
    try writer.close()
    // Sweeps nothing after its scan.
    let cache = try scene.open { $0.mode = .readOnly }
    let steps = Steps()
    let inventory = try cache.inventory(
      isChecking: true, foreignUpTo: 9, reporting: steps.add)
    #expect(steps.looks == Array(1...11) && steps.found == [11])
    #expect(try inventory.entries == cache.entries())
    #expect(try inventory.survey == cache.survey())
    #expect(try inventory.findings == cache.verify())
    #expect(inventory.findings?.damaged == [scene.name("k6").text])
    #expect(inventory.survey.foreignCount == 3 && inventory.survey.temporaryCount == 1)
    #expect(Set(inventory.foreign.map(\.kind)) == [.file, .directory, .link])
    for goal in [TrimGoal.living, .size(10), .count(3), .nothing] {
      let fates = inventory.fates(under: goal)
      let preview = try cache.preview(goal).removal
      #expect(fates.count == inventory.entries.count)
      #expect(fates.count { $0 != .stays } == preview.removed, "\(goal): \(fates)")
      let expired = zip(inventory.entries, fates).filter { $1 == .goesAsExpired }
      #expect(expired.count == inventory.survey.expiredCount)
    }
    let counting = Steps()
    #expect(try cache.survey(reporting: counting.add).survey == inventory.survey)
    #expect(counting.found == [9] && counting.looks == [])
    let few = try cache.inventory(isChecking: false, foreignUpTo: 1)
    #expect(few.foreign.count == 1 && few.survey.foreignCount == 3 && few.findings == nil)
  }

  @Test(arguments: [0, 1, 512, 1_024, 1_025, 3_000])
  func `looks at each of many entries once, in their order`(count: Int) throws {
    let cache = try filled(count)
    for isChecking in [false, true] {
      let steps = Steps()
      let inventory = try cache.inventory(
        isChecking: isChecking, foreignUpTo: 0, reporting: steps.add)
      #expect(steps.looks == Array(0..<count).map { $0 + 1 })
      #expect(steps.found.last == count && steps.found == steps.found.sorted())
      #expect(steps.totals.allSatisfy { $0 == count })
      #expect(inventory.entries.map(\.name) == inventory.entries.map(\.name).sorted())
      #expect(Set(inventory.entries.map(\.name)).count == count)
      #expect(inventory.entries.allSatisfy { $0.byteCount == 2 })
      #expect(inventory.findings?.unverifiableCount == (isChecking ? count : nil))
    }
  }

  @Test func `tells of a look as soon as it is done, and of the names before`() throws {
    let cache = try filled(100)
    let walks: [(WalkProgress) throws -> Void] = [
      { _ = try cache.inventory(isChecking: true, foreignUpTo: 0, reporting: $0) },
      { _ = try cache.verify(repairs: false, reporting: $0) },
      { _ = try cache.entries(reporting: $0) },
    ]
    for walk in walks {
      let steps = Steps()
      // The first opening is that of the directory, to read its names.
      scene.faults.plan(.errno(.tooManyOpenFiles), for: .openat, at: 42, onwards: true)
      #expect(throws: CacheError.self) { try walk(steps.add) }
      scene.faults.reset()
      #expect(steps.found == [100] && steps.looks == Array(1...40))
    }
    let steps = Steps()
    #expect(try cache.nameCount(reporting: steps.add) == 100)
    #expect(steps.found == [100] && steps.looks == [])
  }

  @Test(arguments: [1, 700, 2_900])
  func `fails with the first error, and leaves nothing open`(call: Int) throws {
    let cache = try filled(3_000)
    scene.faults.plan(.errno(.tooManyOpenFiles), for: .openat, at: call + 1, onwards: true)
    let error = #expect(throws: CacheError.self) { try cache.entries() }
    #expect(error?.code == .resourcesExhausted)
    scene.faults.reset()
    #expect(try cache.entries().count == 3_000)
  }

  @Test func `ends at an error of its caller`() throws {
    let cache = try filled(3_000)
    var count = 0
    #expect(throws: CacheError.self) {
      try cache.forEachEntry { _ throws(CacheError) in
        count += 1
        if count == 600 { throw CacheError(.cancelled, operation: "test") }
      }
    }
    #expect(count == 600)
    try cache.close()
  }
}

/// What a walk told of its progress.
private final class Steps {
  private var steps: [(done: Int, total: Int?)] = []

  func add(_ done: Int, _ total: Int?) { steps.append((done, total)) }

  /// The numbers of names that were found, one for each piece.
  var found: [Int] { steps.filter { $0.total == nil }.map(\.done) }
  /// The numbers of names that were done, one for each look.
  var looks: [Int] { steps.filter { $0.total != nil }.map(\.done) }
  var totals: [Int] { steps.compactMap(\.total) }
}
