import Foundation
import Larder

/// A client of a weather service that asks for each city once an hour.
struct ForecastClient: Sendable {
  let cache: Cache<String>
  /// Gets a page from the network.
  let fetch: @Sendable (String) async throws -> String

  /// The temperature in a city, in degrees Celsius.
  func temperature(in city: String) async throws -> Double {
    let url = "https://api.example.org/forecast?city=\(city)"
    let page = try await cache.value(forKey: url, expiration: .seconds(3600)) {
      try await fetch(url)
    }
    return try JSONDecoder().decode(Forecast.self, from: Data(page.utf8)).temperature
  }

  private struct Forecast: Decodable {
    let temperature: Double
  }
}
