/// Alternating runs of two sides, so that other work of the machine slows down both.
struct Interleaving {
  /// Whether the median piece represents all pieces of a round, instead of their sum. This is for a
  /// machine that has other work to do.
  var isByTypicalPiece = false
  /// The operations of a piece.
  var pieceCount = 64

  /// The time of each side.
  struct Times {
    var ours = Duration.zero
    var least = Duration.zero
    var same: Duration?
  }

  /// Runs all sides over a number of operations, in pieces. The sides take turns in going first.
  ///
  /// A piece is so long that reading the clock is negligible, and so short that a quiet moment of
  /// the machine cannot favour one side.
  func run(
    _ count: Int, _ ours: (Range<Int>) throws -> Void, least: (Range<Int>) throws -> Void,
    same: (Range<Int>) throws -> Void
  ) rethrows -> Times {
    let totals = try run(count, sides: 3) { side, range in
      switch side {
      case 0: try ours(range)
      case 1: try least(range)
      default: try same(range)
      }
    }
    return Times(ours: totals[0], least: totals[1], same: totals[2])
  }

  /// Runs two sides likewise, where the same work is the least.
  func run(
    _ count: Int, _ ours: (Range<Int>) throws -> Void, least: (Range<Int>) throws -> Void
  ) rethrows -> Times {
    let totals = try run(count, sides: 2) { side, range in
      if side == 0 { try ours(range) } else { try least(range) }
    }
    return Times(ours: totals[0], least: totals[1])
  }

  private func run(
    _ count: Int, sides: Int, _ operation: (_ side: Int, Range<Int>) throws -> Void
  ) rethrows -> [Duration] {
    var pieces = [[Duration]](repeating: [], count: sides)
    let clock = ContinuousClock()
    for (piece, start) in stride(from: 0, to: count, by: pieceCount).enumerated() {
      let range = start..<min(start + pieceCount, count)
      for turn in 0..<sides {
        let side = (piece + turn) % sides
        pieces[side].append(try clock.measure { try operation(side, range) })
      }
    }
    return pieces.map(total)
  }

  private func total(_ pieces: [Duration]) -> Duration {
    guard isByTypicalPiece else { return pieces.reduce(.zero, +) }
    return pieces.sorted()[pieces.count / 2] * pieces.count
  }
}
