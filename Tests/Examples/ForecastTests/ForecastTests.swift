import Larder
import LarderFixtures
import Testing

struct ForecastTests {
  let fixture: Fixture
  let client: ForecastClient

  init() throws {
    fixture = try Fixture("Fixtures/forecast")
    let cache = try Cache(fixture: fixture, coder: .string)
    client = ForecastClient(cache: cache, fetch: network)
  }

  @Test func `reads the temperature`() async throws {
    let temperature = try await client.temperature(in: "Oslo")
    #expect(temperature == -3.5)
  }

  @Test func `passes on what is no forecast`() async {
    await #expect(throws: DecodingError.self) {
      try await client.temperature(in: "Atlantis")
    }
  }

  @Test func `asks again after an hour`() async throws {
    _ = try await client.temperature(in: "Oslo")
    fixture.clock.advance(by: .seconds(3600))
    await #expect(throws: FixtureMiss.self) {
      try await client.temperature(in: "Oslo")
    }
  }
}
