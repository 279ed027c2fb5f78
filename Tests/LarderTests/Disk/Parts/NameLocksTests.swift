import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The locks of names, tested without threads.
struct `The locks of names` {
  private let first = IndexSample.name(1)
  private let second = IndexSample.name(2)
  private let third = IndexSample.name(3)

  /// Returns locks with some names held.
  private func holding(_ names: EntryName...) -> NameLocks {
    var locks = NameLocks()
    for name in names { _ = locks.take(name) }
    return locks
  }

  @Test func `a name is held once, and other names do not wait for it`() {
    var locks = NameLocks()
    #expect(locks.isEmpty)
    let taken = [first, first, second].map { locks.take($0) }
    #expect(taken == [true, false, true] && !locks.isEmpty)
    #expect(Set(locks.held) == [first, second])
  }

  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]])
  func `names are given back in any order`(order: [Int]) {
    let names = [first, second, third]
    var locks = holding(first, second, third)
    for (step, number) in order.enumerated() {
      let isFree = locks.giveBack(names[number])
      #expect(isFree && locks.held.count == 2 - step && !locks.held.contains(names[number]))
    }
    #expect(locks.isEmpty)
    let isTaken = locks.take(second)
    #expect(isTaken)
  }

  @Test func `a name of the same digest and another extension is another name`() {
    var locks = holding(IndexSample.name(1))
    let isTaken = locks.take(IndexSample.name(1, extension: "json"))
    #expect(isTaken && locks.held.count == 2)
  }

  @Test func `giving back a name that is not held changes nothing`() {
    var locks = holding(first)
    let isFree = locks.giveBack(second)
    #expect(isFree && locks.held == [first])
  }

  @Test func `an event of a free name is followed by the thread that brings it`() {
    var locks = NameLocks()
    let isTaken = locks.takeOrMark(first)
    #expect(isTaken && locks.held == [first] && !locks.hasMarks)
  }

  @Test func `an event of a held name is followed before the name is free`() {
    var locks = holding(first, second)
    let isTaken = locks.takeOrMark(first)
    #expect(!isTaken && locks.hasMarks && locks.isMarked(first) && !locks.isMarked(second))
    // The other name is not affected.
    let isSecondFree = locks.giveBack(second)
    #expect(isSecondFree)
    let gaveBack = [first, first].map { locks.giveBack($0) }
    #expect(gaveBack == [false, true] && locks.isEmpty && !locks.hasMarks)
  }

  @Test func `an event that comes while older ones are followed keeps the name once more`() {
    var locks = holding(first)
    locks.mark(first)
    let gaveBack = locks.giveBack(first)
    _ = locks.takeOrMark(first)
    let gaveBackAgain = locks.giveBack(first)
    let gaveBackAtLast = locks.giveBack(first)
    #expect([gaveBack, gaveBackAgain, gaveBackAtLast] == [false, false, true])
  }

  @Test func `a mark is taken once, and many marks of a name are one`() {
    var locks = holding(first)
    for _ in 0..<3 { locks.mark(first) }
    let taken = [second, first, first].map { locks.takeMark(of: $0) }
    #expect(taken == [false, true, false] && !locks.hasMarks)
    #expect(locks.held == [first])
  }
}
