import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// The values that wait to be written, tested without threads.
struct `The backlog` {
  private let seal = Seal(
    key: CacheKey("k"), lifetime: .never, lastAccess: Timestamp(seconds: 1), expiry: .never,
    extendedData: [], begin: Timestamp(seconds: 1))

  private func subject(_ key: String) -> Subject {
    Subject(key: CacheKey(key), name: DiskScene.name(of: Array(key.utf8)))
  }

  private func add(_ byte: UInt8, _ key: String, to backlog: inout Backlog) {
    backlog.add(Backlog.Write([byte], subject(key), seal))
  }

  /// The cost of a value of one byte under a key of one byte.
  private static let cost = Backlog.cost(of: 1, "a", [])

  @Test func `a value costs its content, key and extended data, and its record`() {
    let seal = Seal(
      key: "key", lifetime: .never, lastAccess: Timestamp(seconds: 1), expiry: .never,
      extendedData: [1, 2, 3, 4, 5], begin: Timestamp(seconds: 1))
    var backlog = Backlog()
    backlog.add(Backlog.Write([UInt8](repeating: 0, count: 70), subject("key"), seal))
    #expect(backlog.cost == 70 + 3 + 5 + 512)
  }

  private func expectNext(_ bytes: [UInt8]?, in backlog: inout Backlog) {
    let next = backlog.next()
    #expect(next?.bytes == bytes)
  }

  @Test func `values have their turns in the order in which their names came`() {
    var backlog = Backlog()
    for (byte, key) in [(1, "a"), (2, "b"), (3, "a")] as [(UInt8, String)] {
      add(byte, key, to: &backlog)
    }
    expectNext([3], in: &backlog)
    expectNext([2], in: &backlog)
    expectNext(nil, in: &backlog)
    #expect(backlog.cost == 2 * Self.cost)
  }

  @Test func `many values have their turns in order, and leave no memory of theirs behind`() {
    var backlog = Backlog()
    for number in 0..<5_000 {
      backlog.add(Backlog.Write([UInt8(number % 251)], subject("\(number)"), seal))
    }
    let isClaimed = backlog.claimWriter()
    #expect(isClaimed)
    for number in 0..<5_000 {
      let write = backlog.next()
      #expect(write?.subject.key == CacheKey("\(number)"))
      if let write { backlog.finishTurn(of: write, isWritten: true) }
    }
    let none = backlog.nextOfWriter()
    #expect(none == nil && !backlog.hasWriter && backlog.isEmpty && backlog.cost == 0)
    #expect(backlog.takeSpent().map(\.slotCount) == [5_000])
    #expect(backlog.takeSpent().isEmpty)
  }

  @Test func `a value that comes while its name is being written has a turn of its own`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let write = backlog.next()
    add(2, "a", to: &backlog)
    // Not before the first write has ended, because it may be published meanwhile.
    expectNext(nil, in: &backlog)
    #expect(write.map { backlog[$0] != nil } == true)
    if let write { backlog.finishTurn(of: write, isWritten: true) }
    expectNext([2], in: &backlog)
    expectNext(nil, in: &backlog)
  }

  @Test func `a name that is stored all the time holds up no other`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    add(2, "b", to: &backlog)
    let write = backlog.next()
    add(3, "a", to: &backlog)
    if let write { backlog.finishTurn(of: write, isWritten: true) }
    expectNext([2], in: &backlog)
    expectNext([3], in: &backlog)
  }

  @Test func `a value whose round began while its name was written has its turn at once`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let write = backlog.next()
    add(2, "a", to: &backlog)
    for key in ["b", "c"] { add(3, key, to: &backlog) }
    let latest = backlog.latestRound
    expectNext([3], in: &backlog)
    if let write { backlog.finishTurn(of: write, isWritten: true) }
    #expect(backlog[subject("a").name]?.write.bytes == [2])
    for bytes in [[2], [3]] as [[UInt8]] {
      let next = backlog.step(upTo: latest) ?? nil
      #expect(next?.bytes == bytes)
    }
    expectNext(nil, in: &backlog)
  }

  @Test func `a name that was dropped and came again has one turn`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    backlog.drop(subject("a").name)
    add(2, "a", to: &backlog)
    expectNext([2], in: &backlog)
    expectNext(nil, in: &backlog)
    #expect(backlog.cost == Self.cost)
  }

  @Test func `a value that was written or replaced is not kept while others wait`() {
    var backlog = Backlog()
    add(1, "replaced", to: &backlog)
    weak let replaced = backlog[subject("replaced").name]?.write
    add(2, "replaced", to: &backlog)
    #expect(replaced == nil)
    add(3, "waits", to: &backlog)
    weak let written = backlog.next()
    backlog.drop(subject("replaced").name)
    #expect(written == nil)
    #expect(backlog.cost == Backlog.cost(of: 1, "waits", []))
  }

  @Test func `who waits for room is not passed by others`() {
    var backlog = Backlog()
    let threads = (1...3).map { ThreadIdentity(number: $0) }
    let (first, large, small) = (threads[0], threads[1], threads[2])
    #expect(backlog.reserve(60, limit: 100, by: first) == true)
    #expect(backlog.reserve(100, limit: 100, by: large) == nil)
    // There is room for it, but a store that came earlier waits.
    #expect(backlog.reserve(10, limit: 100, by: small) == nil)
    #expect(!backlog.line.isEmpty)
    backlog.giveBack(60)
    #expect(backlog.reserve(10, limit: 100, by: small) == nil)
    #expect(backlog.reserve(100, limit: 100, by: large) == true)
    backlog.giveBack(100)
    #expect(backlog.reserve(10, limit: 100, by: small) == true)
    #expect(backlog.line.isEmpty)
  }

  @Test func `what was accepted up to a moment is done when it is written, lost or dropped`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    add(2, "b", to: &backlog)
    let latest = backlog.latestRound
    guard let a = backlog.step(upTo: latest) ?? nil, let b = backlog.step(upTo: latest) ?? nil
    else {
      Issue.record("two values are to be written")
      return
    }
    #expect([a.bytes, b.bytes] == [[1], [2]])
    add(3, "c", to: &backlog)
    // Both are being written, and the third is left to a later round.
    #expect(backlog.step(upTo: latest) == nil)
    add(4, "a", to: &backlog)
    backlog.finishTurn(of: a, isWritten: false)
    backlog.drop(subject("b").name)
    // The newer value replaces the one that failed.
    guard let newer = backlog.step(upTo: latest) ?? nil else {
      Issue.record("the newer value is to be written")
      return
    }
    #expect(newer.bytes == [4])
    backlog.finishTurn(of: newer, isWritten: true)
    guard case .some(nil) = backlog.step(upTo: latest) else {
      Issue.record("nothing is left to be written")
      return
    }
    expectNext([3], in: &backlog)
  }

  @Test func `a writer is waited for until it has done what follows its value, not by itself`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let latest = backlog.latestRound
    guard let write = backlog.next() else {
      Issue.record("a value is to be written")
      return
    }
    let round = backlog[write]?.round ?? 0
    backlog.writers = [(ThreadIdentity(number: 1), round)]
    backlog.finishTurn(of: write, isWritten: true)
    #expect(backlog.step(upTo: latest) == nil)
    guard case .some(nil) = backlog.step(upTo: latest - 1) else {
      Issue.record("a later round is not waited for")
      return
    }
    backlog.writers = [(.current, round)]
    guard case .some(nil) = backlog.step(upTo: latest) else {
      Issue.record("a thread waits for itself")
      return
    }
  }

  // Found by a crash state: a flush that returned here left the file older than both values.
  @Test(arguments: [false, true])
  func `a value stands for those whose place it took while they waited`(isDue: Bool) {
    var backlog = Backlog()
    if isDue { add(0, "first", to: &backlog) }
    add(1, "a", to: &backlog)
    let latest = backlog.latestRound
    let first = isDue ? backlog.next() : nil
    add(2, "a", to: &backlog)
    if let first { backlog.finishTurn(of: first, isWritten: true) }
    guard let newer = backlog.next() else {
      Issue.record("a value is to be written")
      return
    }
    #expect(newer.bytes == [2])
    // Another thread is writing it.
    #expect(backlog.step(upTo: latest) == nil)
    backlog.finishTurn(of: newer, isWritten: true)
    guard case .some(nil) = backlog.step(upTo: latest) else {
      Issue.record("nothing is left to be written")
      return
    }
  }

  @Test func `what is dropped must not be published, and a later value is another`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let write = backlog.next()
    backlog.drop(subject("a").name)
    add(2, "a", to: &backlog)
    #expect(write.map { backlog[$0] == nil } == true)
    if let write { #expect(backlog.finishTurn(of: write, isWritten: true) == nil) }
    expectNext([2], in: &backlog)
    #expect(backlog.cost == Self.cost)
  }

  /// Takes out the newest hidden value of each name.
  private func takeHidden(of backlog: inout Backlog) -> [[UInt8]] {
    let names = backlog.hidden.flatMap { $0.names(in: 0..<$0.slotCount) }
    return names.compactMap { backlog.takeHidden($0)?.bytes }.sorted { $0[0] < $1[0] }
  }

  @Test func `hidden values are neither read nor written, and count for no room`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let write = backlog.next()
    add(2, "b", to: &backlog)
    backlog.hide()
    #expect(backlog.isEmpty && backlog.cost == 0 && backlog.hiddenCost == 2 * Self.cost)
    #expect(backlog[subject("a").name] == nil)
    #expect(write.flatMap { backlog[$0] } == nil)
    expectNext(nil, in: &backlog)
    add(3, "a", to: &backlog)
    expectNext([3], in: &backlog)
    #expect(takeHidden(of: &backlog) == [[2]] && backlog.superseded.count == 1)
    #expect(backlog.hidden.isEmpty && backlog.hiddenCost == 0 && backlog.cost == Self.cost)
  }

  @Test func `of several hidden values of a name the newest counts, and is taken with the others`()
  {
    var backlog = Backlog()
    for byte in 1...3 as ClosedRange<UInt8> {
      add(byte, "a", to: &backlog)
      add(byte + 10, "b", to: &backlog)
      if byte == 3 {
        _ = backlog.next()
        add(4, "a", to: &backlog)
      }
      backlog.hide()
    }
    #expect(backlog.hiddenCost == 2 * Self.cost && backlog.superseded.count == 2)
    let newest = backlog.takeHidden(subject("a").name)
    #expect(newest?.bytes == [4])
    let none = backlog.takeHidden(subject("a").name)
    #expect(none == nil && backlog.hiddenCost == Self.cost)
    #expect(takeHidden(of: &backlog) == [[13]])
  }

  @Test func `a value that is put back has its turn, unless there is a newer one`() {
    var backlog = Backlog()
    for key in ["a", "b"] { add(1, key, to: &backlog) }
    backlog.hide()
    add(2, "a", to: &backlog)
    for key in ["a", "b"] {
      if let write = backlog.takeHidden(subject(key).name) { backlog.add(write) }
    }
    expectNext([2], in: &backlog)
    expectNext([1], in: &backlog)
    expectNext(nil, in: &backlog)
    #expect(backlog.cost == 2 * Self.cost && backlog.hiddenCost == 0)
  }

  @Test func `a hidden value of a name that was stored or removed since does not come back`() {
    var backlog = Backlog()
    for key in ["a", "b"] { add(1, key, to: &backlog) }
    backlog.hide()
    add(2, "a", to: &backlog)
    let hadValue = backlog.drop(subject("b").name)
    #expect(!hadValue && backlog.superseded.count == 2)
    for key in ["a", "b"] {
      let hidden = backlog.takeHidden(subject(key).name)
      #expect(hidden == nil, "\(key)")
    }
    backlog.forgetHidden(subject("a").name)
    #expect(backlog.superseded.count == 1 && backlog.hiddenCost == 0)
  }

  @Test func `a name whose values fail while newer ones come holds up no flush for ever`() throws {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let latest = backlog.latestRound
    // The second value stands for the first, and no other for the second.
    for byte in 2...3 as ClosedRange<UInt8> {
      let next = backlog.next(upTo: latest)
      let write = try #require(next)
      add(byte, "a", to: &backlog)
      backlog.finishTurn(of: write, isWritten: false)
      if byte == 2 { add(9, "a", to: &backlog) }
    }
    let left = backlog.next(upTo: latest)
    #expect(left == nil)
    expectNext([3], in: &backlog)
  }

  @Test func `a value of a name that is written by its reader has one turn`() {
    var backlog = Backlog()
    add(1, "a", to: &backlog)
    let latest = backlog.latestRound
    // Its turn in the queue is past now.
    guard let first = backlog.step(for: subject("a").name, upTo: latest) ?? nil else {
      Issue.record("the value is to be written")
      return
    }
    add(2, "a", to: &backlog)
    expectNext(nil, in: &backlog)
    backlog.finishTurn(of: first, isWritten: false)
    expectNext([2], in: &backlog)
    add(3, "a", to: &backlog)
    expectNext(nil, in: &backlog)
  }
}
