import Testing

@testable import Larder
@testable import LarderDisk
@testable import LarderSystem

/// The removal of everything, tested without threads or files.
struct `The removal of everything` {
  /// Returns a removal that has begun.
  private func begun(remaining: IndexTotals = IndexTotals()) -> Clearing {
    var clearing = Clearing()
    clearing.begin(remaining: remaining)
    return clearing
  }

  @Test func `hides files from its beginning on, and not before`() {
    var clearing = Clearing()
    #expect(!clearing.hidesFiles && !clearing.isRunning)
    clearing.begin(remaining: IndexTotals())
    #expect(clearing.hidesFiles && clearing.isRunning)
  }

  @Test func `goes on after it hides nothing any more, until it ends`() {
    var clearing = begun(remaining: IndexSample.index([IndexSample.entry(3)]).totals)
    clearing.reveal()
    #expect(!clearing.hidesFiles && clearing.isRunning)
    #expect(clearing.remaining == IndexTotals())
    clearing.end()
    #expect(!clearing.isRunning && clearing.count == 1)
  }

  @Test func `counts down the files that remain, and not below none`() {
    let index = IndexSample.index([IndexSample.entry(1), IndexSample.entry(2)])
    var clearing = begun(remaining: index.totals)
    #expect(clearing.remaining.count == 2 && clearing.remaining.byteCount == 200)
    clearing.subtract(IndexSample.entry(1))
    #expect(clearing.remaining == IndexSample.index([IndexSample.entry(2)]).totals)
    clearing.subtract(IndexSample.entry(2))
    clearing.subtract(IndexSample.entry(3))
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
