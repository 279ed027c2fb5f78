/// The turns of names that wait to be written, in the order in which they came.
///
/// The turns are in chunks, so neither adding nor removing one moves the others. An array of a
/// million turns would move them for milliseconds under the engine's lock.
struct TurnQueue: Sendable {
  struct Turn: Sendable {
    let name: EntryName
    let number: UInt64
  }

  /// The number of turns in a chunk.
  static let chunkCount = 1024

  private var chunks: [[Turn]] = []
  /// The number of turns of the first chunk that are gone.
  private var goneCount = 0

  /// The turn that came first; nil if there is none.
  var first: Turn? {
    guard let chunk = chunks.first, goneCount < chunk.count else { return nil }
    return chunk[goneCount]
  }

  /// Adds a turn after the others.
  ///
  /// - Complexity: O(1).
  mutating func append(_ turn: Turn) {
    if chunks.isEmpty {
      // The first chunk grows as arrays do, so that a small queue stays small.
      chunks.append([])
    } else if chunks[chunks.count - 1].count == Self.chunkCount {
      chunks.append([])
      chunks[chunks.count - 1].reserveCapacity(Self.chunkCount)
    }
    chunks[chunks.count - 1].append(turn)
  }

  /// Removes the turn that came first. There must be one.
  ///
  /// - Complexity: O(1), but for one pointer a chunk each 1,024 calls.
  mutating func removeFirst() {
    goneCount += 1
    guard goneCount == chunks[0].count else { return }
    goneCount = 0
    if chunks.count == 1 {
      chunks[0].removeAll(keepingCapacity: true)
    } else {
      chunks.removeFirst()
    }
  }
}
