/// Which loads wait for which.
///
/// One for all caches of a process: two loads can wait for each other across two caches, and
/// neither cache by itself would see the circle.
struct FlightGraph: Sendable {
  private struct Wait: Sendable {
    let waiting: FlightID
    let awaited: FlightID
  }

  private var waits: [WaiterID: Wait] = [:]
  private var waitsOfFlight: [FlightID: Set<WaiterID>] = [:]

  /// Notes that one load, in a call of its own, waits for another.
  ///
  /// - Returns: False, with nothing noted, when it would then wait for itself.
  /// - Complexity: O(w) for w waits between loads.
  mutating func add(_ id: WaiterID, _ waiting: FlightID, waitsFor awaited: FlightID) -> Bool {
    if reaches(waiting, from: awaited) { return false }
    waits[id] = Wait(waiting: waiting, awaited: awaited)
    waitsOfFlight[waiting, default: []].insert(id)
    return true
  }

  /// Notes that a call waits no more.
  ///
  /// - Complexity: O(1).
  mutating func remove(_ id: WaiterID) {
    guard let wait = waits.removeValue(forKey: id) else { return }
    waitsOfFlight[wait.waiting]?.remove(id)
    if waitsOfFlight[wait.waiting]?.isEmpty == true { waitsOfFlight[wait.waiting] = nil }
  }

  /// Whether a load is, or waits directly or through others for, another.
  private func reaches(_ goal: FlightID, from start: FlightID) -> Bool {
    var open = [start]
    var seen: Set<FlightID> = []
    while let next = open.popLast() {
      if next == goal { return true }
      guard seen.insert(next).inserted else { continue }
      open += waitsOfFlight[next, default: []].compactMap { waits[$0]?.awaited }
    }
    return false
  }
}
