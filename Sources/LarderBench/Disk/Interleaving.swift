/// Alternating runs of two sides, so that other work of the machine slows down both.
struct Interleaving {
  /// Whether the median piece represents all pieces of a round, instead of their sum. This is for a
  /// machine that has other work to do.
  var isByTypicalPiece = false

  /// The time of each side.
  struct Times {
    var ours = Duration.zero
    var raw = Duration.zero
  }

  /// Runs both sides over a number of operations, in pieces. The sides take turns in going first.
  ///
  /// A piece is so long that reading the clock is negligible, and so short that a quiet moment of
  /// the machine cannot favour one side.
  func run(
    _ count: Int, piece: Int = 64, _ ours: (Range<Int>) throws -> Void,
    raw: (Range<Int>) throws -> Void
  ) rethrows -> Times {
    var pieces: (ours: [Duration], raw: [Duration]) = ([], [])
    let clock = ContinuousClock()
    var isOursFirst = true
    var start = 0
    while start < count {
      let range = start..<min(start + piece, count)
      if isOursFirst { pieces.ours.append(try clock.measure { try ours(range) }) }
      pieces.raw.append(try clock.measure { try raw(range) })
      if !isOursFirst { pieces.ours.append(try clock.measure { try ours(range) }) }
      isOursFirst.toggle()
      start = range.upperBound
    }
    return Times(ours: total(pieces.ours), raw: total(pieces.raw))
  }

  private func total(_ pieces: [Duration]) -> Duration {
    guard isByTypicalPiece else { return pieces.reduce(.zero, +) }
    return pieces.sorted()[pieces.count / 2] * pieces.count
  }
}
