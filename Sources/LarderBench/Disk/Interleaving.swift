/// Runs two sides by turns, so that what else the machine does falls on both.
struct Interleaving {
  /// Whether the median piece stands for all of a round in place of their sum, on a machine that
  /// has other work to do.
  var isByTypicalPiece = false

  /// What each side took.
  struct Times {
    var ours = Duration.zero
    var raw = Duration.zero
  }

  /// Runs both sides over a number of operations, in pieces; each begins every other piece.
  ///
  /// A piece is long enough that two looks at the clock do not count, and short enough that neither
  /// side has a quiet moment to itself.
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
