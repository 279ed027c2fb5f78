/// The phases of an engine, each of which comes once and in this order.
///
/// 1. `open`: an object uses the engine.
/// 2. `ending`: the last object is being closed. An operation that does not hold its name yet must
///    not begin to change it, because the end waits for names that are held and for no others.
/// 3. `shutDown`: scans stop at their next piece, and no victims are chosen, because another process
///    may own the directory soon.
/// 4. `ended`: nothing more is written, and the directory's lock is given up. The directory can be
///    opened again.
enum Phase: UInt8, Sendable {
  case open, ending, shutDown, ended
}

extension Phase: Comparable {
  static func < (a: Phase, b: Phase) -> Bool { a.rawValue < b.rawValue }

  /// Whether the last object is being closed or is closed.
  var isEnding: Bool { self >= .ending }

  /// Whether no scan goes on and no victims are chosen any more.
  var isShutDown: Bool { self >= .shutDown }

  /// Whether the directory can be opened again.
  var hasEnded: Bool { self == .ended }

  /// Goes on to a phase, or stays in a later one.
  mutating func advance(to phase: Phase) { self = max(self, phase) }
}
