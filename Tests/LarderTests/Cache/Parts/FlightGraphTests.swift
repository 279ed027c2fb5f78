import Testing

@testable import Larder
@testable import LarderSystem

struct `Loads that wait for loads` {
  @Test func `none waits for itself, and a wait that has ended stands in nobody's way`() {
    var graph = FlightGraph()
    let flights = (0..<3).map { _ in FlightID() }
    let wait = WaiterID()
    let wanted = [(0, 0), (0, 1), (1, 2), (2, 0)]
    let noted = wanted.map { waiting, awaited in
      graph.add(
        waiting == 1 ? wait : WaiterID(), flights[waiting], waitsFor: flights[awaited])
    }
    #expect(noted == [false, true, true, false])
    graph.remove(wait, of: flights[1])
    let isNoted = graph.add(WaiterID(), flights[2], waitsFor: flights[0])
    #expect(isNoted)
  }
}
