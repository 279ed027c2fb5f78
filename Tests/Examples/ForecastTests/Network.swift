/// Replaces the network, which tests use only while they record.
func network(_ url: String) async throws -> String {
  switch url.split(separator: "=").last {
  case "Oslo": #"{"city": "Oslo", "temperature": -3.5}"#
  default: #"{"error": "no such city"}"#
  }
}
