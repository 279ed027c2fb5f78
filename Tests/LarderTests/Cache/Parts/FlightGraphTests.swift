import Testing

@testable import Larder
@testable import LarderBasics
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

struct `The running loads` {
  /// A load that has found a value has run no closure, which one with `.reload` asks for.
  @Test(arguments: [false, true])
  func `answer a caller that wants a load only by one`(hasFound: Bool) throws {
    var table = FlightTable<String>()
    guard
      case .start(let flight) = table.join("key", WaiterID(), "first", mayWait: { _ in true })
    else {
      Issue.record("no load began")
      return
    }
    if hasFound { table.find(flight) }
    let joining = table.join("key", WaiterID(), "reload", options: .reload) { _ in true }
    guard case .wait = joining else {
      Issue.record("another load began")
      return
    }
    let audience = table.finish(flight)
    #expect(Set(audience.answered) == (hasFound ? ["first"] : ["first", "reload"]))
    #expect(audience.late == (hasFound ? ["reload"] : []))
  }

  /// One that was given up may end after a newer one, whose kept error stays.
  @Test func `name their key at their end, unless they were given up`() {
    var table = FlightTable<String>()
    let keys = [false, true].map { isGivenUp -> CacheKey? in
      let id = WaiterID()
      guard case .start(let flight) = table.join("key", id, "caller", mayWait: { _ in true })
      else { return "none" }
      if isGivenUp { _ = table.cancel(id) }
      return table.finish(flight).key
    }
    #expect(keys == ["key", nil])
  }

  /// The value of a refresh whose key was changed is of no use to those that came afterwards.
  @Test(arguments: [false, true])
  func `hold no caller up that came after a change of the key`(isEarly: Bool) {
    var table = FlightTable<String>()
    let time = Timestamp(seconds: 0)..<Timestamp(seconds: 100)
    let refresh = table.refresh("key", during: time)
    if isEarly { _ = table.join("key", WaiterID(), "early") { _ in true } }
    table.supersede("key")
    _ = table.join("key", WaiterID(), "late") { _ in true }
    let given = table.giveUpRefresh(of: "key", at: Timestamp(seconds: 50))
    #expect(refresh != nil && given?.waiters == (isEarly ? nil : ["late"]))
  }
}
