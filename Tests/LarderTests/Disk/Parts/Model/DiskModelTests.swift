import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// Seeded random operations on a cache and on a naive model of it, which must give the same
/// results.
@Suite(.enabled(if: FileSystemFeatures.hasAttributes), .watched)
struct DiskModelTests {}

extension DiskModelTests {
  @Test(arguments: 0..<16 as Range<UInt64>)
  func `a cache does what a naive one does, whatever the operations`(seed: UInt64) throws {
    try run(seed: seed, mayFail: false)
  }

  @Test(arguments: 100..<116 as Range<UInt64>)
  func `with system calls failing it does what its promises allow`(seed: UInt64) throws {
    try run(seed: seed, mayFail: true)
  }

  private func run(seed: UInt64, mayFail: Bool) throws {
    let directory = try TemporaryDirectory()
    var run = try DiskModelRun(
      path: directory.path + "/cache", random: SeededRandom(seed: seed), mayFail: mayFail)
    do {
      for _ in 0..<rounds(100) { try run.step() }
      try run.end()
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }
}
