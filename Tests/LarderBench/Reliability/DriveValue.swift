import Larder
import LarderDigest

/// A value of any length that is computed from its key, as a whole or in pieces.
struct DriveValue {
  let byteCount: Int
  /// The bytes that the value repeats. Their number is no multiple of any block size.
  private let period: [UInt8]
  private static let pieceCount = 64 << 10

  init(key: String, byteCount: Int) {
    self.byteCount = byteCount
    var random = SeededRandom(seed: XXH64(Array(key.utf8).span).finalize())
    period = (0..<4_093).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  var bytes: [UInt8] { piece(0..<byteCount) }

  private func piece(_ range: Range<Int>) -> [UInt8] {
    [UInt8](capacity: range.count) { output in
      for index in range { output.append(period[index % period.count]) }
    }
  }

  private var pieces: [Range<Int>] {
    stride(from: 0, to: byteCount, by: Self.pieceCount).map {
      $0..<min($0 + Self.pieceCount, byteCount)
    }
  }

  func write(to stream: inout EntryStream) throws {
    for range in pieces { try stream.write(piece(range)) }
  }

  /// Returns whether an open file contains the value.
  func matches(_ file: borrowing EntryFile) throws -> Bool {
    guard file.byteCount == byteCount else { return false }
    for range in pieces {
      var found = [UInt8](repeating: 0, count: range.count)
      guard try file.read(into: &found) == range.count, found == piece(range) else { return false }
    }
    return true
  }
}
