import Testing

@testable import LarderDisk

struct TurnQueueTests {
  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a queue of turns does what an array does`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var queue = TurnQueue()
    var model: [UInt64] = []
    var next: UInt64 = 0
    // Grows to several chunks, and shrinks to none.
    for step in 0..<12_000 {
      let isGrowing = step % 6_000 < 4_000
      if Int.random(in: 0..<10, using: &random) < (isGrowing ? 9 : 2) {
        next += 1
        queue.append(TurnQueue.Turn(name: IndexSample.name(Int(next % 7)), number: next))
        model.append(next)
      } else if !model.isEmpty {
        queue.removeFirst()
        model.removeFirst()
      }
      #expect(queue.first?.number == model.first, "seed \(seed), step \(step)")
      if queue.first?.number != model.first { return }
    }
  }
}
