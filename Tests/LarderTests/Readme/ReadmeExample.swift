import Larder

/// Runs the README's program. `ReadmeTests` compares it with the README line by line.
///
/// - Returns: The number of loads.
func readmeExample(in directory: String) async throws -> Int {
  let loads = Counter()
  @Sendable func print(_ text: String) { if text == "loading" { loads.add() } }
  // README begins
  let pages = try Cache(directory: directory, coder: .string)
  let page = try await pages.value(forKey: "https://example.org/", expiration: .hours(1)) {
    print("loading")  // not printed by the second run
    return "<h1>Hello</h1>"  // or await a download
  }
  print(page)
  try await pages.close()
  // README ends
  return loads.value
}
