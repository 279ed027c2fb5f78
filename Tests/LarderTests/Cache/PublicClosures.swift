import Foundation

/// The closures that the public interface takes, and where tests run them.
enum PublicClosures {
  /// The closures, as a declaration and the label and name of one of its parameters.
  ///
  /// The places are names of `CallerOperation`, or are in `elsewhere`.
  static let places: [String: [String]] = [
    "encode": ["store"], "decode": ["value from disk"],
    "init encode": ["store"], "init decode": ["value from disk"],
    "init read": [clock],
    "leaving operation": [caller],
    "removeAll where": ["removeAll(where:)", "removeAll(where:), while the caller waits"],
    "removalListener": [memory], "cost": [memory], "stepListener": [memory],
    "shouldStore": ["store"],
    "store body": [
      "store in pieces", "store in pieces, while the caller waits",
      "store in pieces, asynchronously",
    ],
    "value orRevalidate": ["a forced load"], "value orStore": ["a load"],
    "verify progress": ["verify", "verify, while the caller waits"],
    "withBytes body": [caller],
    "withFile body": ["withFile", "withFile, while the caller waits", "withFile, asynchronously"],
    "withFile orStore": [
      "a load of a file", "a load of a file that is read asynchronously",
    ],
  ]

  static let elsewhere = [clock, caller, memory]
  private static let clock = "in almost every operation"
  private static let caller = "by the caller, in a call that uses no cache"
  private static let memory = "in the suite of the memory cache"

  /// Returns the closures that the sources declare.
  static func declared() throws -> Set<String> {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources").standardizedFileURL
    var closures: Set<String> = []
    for module in ["", "Basics", "Disk", "Memory", "Fixtures", "System"].map({ "Larder\($0)" }) {
      let folder = sources.appendingPathComponent(module)
      let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      for path in paths where path.hasSuffix(".swift") {
        let file = folder.appendingPathComponent(path)
        closures.formUnion(declared(in: try String(contentsOf: file, encoding: .utf8)))
      }
    }
    return closures
  }

  /// Returns the closures of the public declarations in a source text, formatted as
  /// `swift format` leaves it.
  private static func declared(in text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var closures: [String] = []
    for (index, line) in lines.enumerated() {
      let code = line.drop { $0 == " " }
      guard code.hasPrefix("public "),
        let match = code.firstMatch(of: /(var|let|func|init)\b ?(\w*)/)
      else { continue }
      let isProperty = match.1 == "var" || match.1 == "let"
      let name = match.1 == "init" ? "init" : String(match.2)
      let rest = isProperty ? [] : lines[(index + 1)...].prefix { _ in !code.hasSuffix("{") }
      let end = rest.firstIndex { $0.hasSuffix("{") } ?? rest.startIndex
      let signature = ([code] + rest[..<end]).joined(separator: " ")
      closures += labels(in: signature).map { $0 == name ? name : "\(name) \($0)" }
    }
    return closures
  }

  /// Returns the labels of the parameters that are closures, or their names if they have none.
  private static func labels(in signature: String) -> [String] {
    let type = /:\s*\(?(?:@\w+ )*\([^()]*\)\s*(?:async )?(?:throws(?:\(\w+\))? )?->/
    return signature.matches(of: type).compactMap { match in
      let words = signature[..<match.range.lowerBound].split { !$0.isLetter && $0 != "_" }
      guard let name = words.last else { return nil }
      let label = words.dropLast().last
      let hasLabel = label == "where" || label?.hasPrefix("or") == true
      return String(hasLabel ? label ?? name : name)
    }
  }
}
