import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The removal of everything, tested without threads or files.
@Suite("The removal of everything")
struct ClearingTests {
  private let first = IndexSample.name(1)
  private let second = IndexSample.name(2)

  /// Returns a removal that has begun.
  private func begun(remaining: IndexTotals = IndexTotals()) -> Clearing {
    var clearing = Clearing()
    clearing.begin(remaining: remaining)
    return clearing
  }

  /// Returns the status of an entry's file, with its change time in seconds.
  private func status(of entry: IndexedEntry, changed seconds: Int64) -> FileStatus {
    IndexSample.status(of: entry, changed: Timestamp(seconds: seconds))
  }

  @Test func `hides every name from its beginning on, and none before`() {
    var clearing = Clearing()
    #expect(!clearing.hidesFiles && !clearing.hides(first) && !clearing.isRunning)
    clearing.begin(remaining: IndexTotals())
    #expect(clearing.hidesFiles && clearing.hides(first) && clearing.isRunning)
  }

  @Test func `shows the names that are stored meanwhile`() {
    var clearing = begun()
    clearing.keep(first)
    #expect(!clearing.hides(first) && clearing.hides(second))
  }

  @Test func `keeps nothing where nothing is hidden`() {
    var clearing = Clearing()
    clearing.keep(first)
    clearing.begin(remaining: IndexTotals())
    #expect(clearing.hides(first))
  }

  @Test func `goes on after it hides nothing any more, until it ends`() {
    var clearing = begun(remaining: IndexSample.index([IndexSample.entry(3)]).totals)
    clearing.keep(first)
    clearing.reveal()
    #expect(!clearing.hidesFiles && !clearing.hides(second) && clearing.isRunning)
    #expect(clearing.remaining == IndexTotals())
    clearing.end()
    #expect(!clearing.isRunning && clearing.count == 1)
  }

  @Test func `a second one hides what was stored during the first`() {
    var clearing = begun()
    clearing.keep(first)
    clearing.reveal()
    clearing.end()
    clearing.begin(remaining: IndexTotals())
    #expect(clearing.hides(first) && clearing.count == 2)
  }

  @Test func `concerns a store that began before it, for as long as it hides files`() {
    var clearing = Clearing()
    let count = clearing.count
    #expect(!clearing.hasBegun(since: count))
    clearing.begin(remaining: IndexTotals())
    #expect(clearing.hasBegun(since: count) && !clearing.hasBegun(since: clearing.count))
    clearing.reveal()
    #expect(!clearing.hasBegun(since: count))
  }

  @Test func `removes the file that the walk met, or the same stamped since`() {
    var clearing = begun()
    let entry = IndexSample.entry(1)
    #expect(clearing.changeTime(toRemove: entry) == entry.changeTime)
    clearing.noteRestamped(first, status(of: entry, changed: 9))
    #expect(clearing.changeTime(toRemove: entry) == Timestamp(seconds: 9))
    // A stamp of another file under the name does not concern this one.
    clearing.noteRestamped(first, status(of: IndexSample.entry(7), changed: 10))
    #expect(clearing.changeTime(toRemove: entry) == entry.changeTime)
    clearing.keep(first)
    #expect(clearing.changeTime(toRemove: entry) == nil)
    #expect(clearing.changeTime(toRemove: IndexSample.entry(2)) != nil)
  }

  @Test func `removes a file that was stamped twice, whichever stamp is noted last`() {
    var clearing = begun()
    let entry = IndexSample.entry(1)
    clearing.noteRestamped(first, status(of: entry, changed: 6))
    #expect(clearing.changeTime(toRemove: entry) == entry.changeTime)
    clearing.noteRestamped(first, status(of: entry, changed: 10))
    clearing.noteRestamped(first, status(of: entry, changed: 9))
    #expect(clearing.changeTime(toRemove: entry) == Timestamp(seconds: 10))
  }

  @Test func `removes nothing once it hides nothing, and forgets the stamps`() {
    var clearing = Clearing()
    let entry = IndexSample.entry(1)
    clearing.noteRestamped(first, status(of: entry, changed: 9))
    clearing.begin(remaining: IndexTotals())
    #expect(clearing.changeTime(toRemove: entry) == entry.changeTime)
    clearing.noteRestamped(first, status(of: entry, changed: 9))
    clearing.reveal()
    #expect(clearing.changeTime(toRemove: entry) == nil)
    clearing.begin(remaining: IndexTotals())
    #expect(clearing.changeTime(toRemove: entry) == entry.changeTime)
  }

  @Test func `counts down the files that remain, and not below none`() {
    let index = IndexSample.index([IndexSample.entry(1), IndexSample.entry(2)])
    var clearing = begun(remaining: index.totals)
    #expect(clearing.remaining.count == 2 && clearing.remaining.byteCount == 200)
    clearing.noteGone(IndexSample.entry(1))
    #expect(clearing.remaining == IndexSample.index([IndexSample.entry(2)]).totals)
    clearing.noteGone(IndexSample.entry(2))
    clearing.noteGone(IndexSample.entry(3))
    #expect(clearing.remaining == IndexTotals())
  }

  @Test func `lets another begin while its walk goes on in the directory that is held`() {
    var clearing = begun()
    #expect(clearing.mayBegin)
    clearing.reveal()
    #expect(!clearing.mayBegin)
    clearing.end()
    #expect(clearing.mayBegin)
  }
}
