import Testing

@testable import LarderBasics
@testable import LarderDisk
@testable import LarderSystem

/// The victims that have left the index and not the disk, tested without files.
@Suite("Victims that are still on the disk")
struct DoomedFilesTests {
  private func name(_ number: Int) -> EntryName { IndexSample.name(number) }

  private func victim(_ number: Int, bytes: UInt64 = 100) -> Victim {
    Victim(IndexSample.entry(number, bytes: bytes))
  }

  /// Returns the victims of some numbers.
  private func doomed(_ numbers: Int...) -> DoomedFiles {
    var doomed = DoomedFiles()
    for number in numbers { doomed.insert(victim(number)) }
    return doomed
  }

  @Test func `a victim is known with the state of its file and the cause of its removal`() {
    var doomed = DoomedFiles()
    #expect(doomed.isEmpty && !doomed.contains(name(1)) && doomed[name(1)] == nil)
    doomed.insert(victim(1).counted(as: .expired))
    #expect(!doomed.isEmpty && doomed.contains(name(1)) && !doomed.contains(name(2)))
    let (mark, entry) = (doomed[name(1)], IndexSample.entry(1))
    #expect(mark?.inode == entry.inode && mark?.changeTime.timestamp == entry.changeTime)
    #expect(mark?.cause == .expired)
  }

  @Test func `totals are those of all victims`() {
    var doomed = doomed(1, 2)
    doomed.insert(victim(3, bytes: 1_000))
    #expect(doomed.totals.count == 3 && doomed.totals.byteCount == 1_200)
    #expect(doomed.totals.allocatedByteCount == 3 * 4096)
    doomed.remove(name(3))
    #expect(doomed.totals.count == 2 && doomed.totals.byteCount == 200)
  }

  @Test func `a later victim of a name takes the place of the one before`() {
    var doomed = doomed(1)
    var later = IndexSample.entry(1, bytes: 7)
    later.inode = 99
    doomed.insert(Victim(later).counted(as: .corrupt))
    #expect(doomed[name(1)]?.inode == 99 && doomed[name(1)]?.cause == .corrupt)
    #expect(doomed.totals.count == 1 && doomed.totals.byteCount == 7)
  }

  @Test(arguments: [(0, true), (1, false)] as [(UInt64, Bool)])
  func `a stamp by this process moves the mark of the same file only`(
    otherInode: UInt64, isMoved: Bool
  ) {
    var doomed = doomed(1)
    let entry = IndexSample.entry(1)
    doomed.restamp(
      name(1), inode: entry.inode + otherInode, changeTime: Timestamp(seconds: 70),
      lastAccess: Timestamp(seconds: 1 << 33))
    let lastUse = isMoved ? Timestamp(seconds: 1 << 33) : entry.lastAccess
    #expect(doomed[name(1)]?.lastAccess.timestamp == lastUse)
    let expected = isMoved ? Timestamp(seconds: 70) : entry.changeTime
    #expect(doomed[name(1)]?.changeTime.timestamp == expected)
    #expect(doomed[name(1)]?.inode == entry.inode)
  }

  @Test func `a stamp of a name without a victim is nothing`() {
    var doomed = doomed(1)
    let time = Timestamp(seconds: 70)
    doomed.restamp(name(2), inode: 3, changeTime: time, lastAccess: time)
    #expect(!doomed.contains(name(2)) && doomed.totals.count == 1)
  }

  @Test func `a victim is removed once`() {
    var doomed = doomed(1, 2)
    let removals = [1, 1, 3, 2].map { doomed.remove(name($0)) }
    #expect(removals == [true, false, false, true])
    #expect(doomed.isEmpty && doomed.totals == IndexTotals())
  }

  @Test func `a small table is kept when it is empty, and a large one given away`() {
    var small = doomed(1, 2)
    let full = small.takeExcess()
    for number in 1...2 { small.remove(name(number)) }
    let empty = small.takeExcess()
    #expect(full == nil && empty == nil && small.isEmpty)
    var large = DoomedFiles()
    let count = NameTable.smallCount + 1
    for number in 0..<count { large.insert(victim(number)) }
    let none = large.takeExcess()
    #expect(none == nil && large.totals.count == count)
    for number in 0..<count { large.remove(name(number)) }
    let (excess, again) = (large.takeExcess(), large.takeExcess())
    #expect(excess != nil && large.isEmpty && again == nil)
    large.insert(victim(5))
    #expect(large.contains(name(5)) && large.totals.count == 1)
  }
}
