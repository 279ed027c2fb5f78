import Foundation

@testable import Larder

/// The places in `System/` from which a cache makes system calls, as the source has them.
struct CallSiteListing {
  /// One place, with the function it is in.
  struct Site {
    let place: String
    let function: String
  }

  let sites: [Site]

  /// Functions whose calls no test of an ordinary user can reach, and why.
  static let excused: [String: String] = [
    "setOwner": "only root gives files away"
  ]

  /// Files whose calls are not those of a cache on its directory.
  private static let others = [
    "Path.swift", "OutputFile.swift", "PressureSource.swift", "EventDescriptor.swift",
  ]

  init() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources/Larder/System").standardizedFileURL
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    var sites: [Site] = []
    for name in names where name.hasSuffix(".swift") && !Self.others.contains(name) {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      sites += Self.sites(in: text, name)
    }
    self.sites = sites
  }

  /// A call with a plan of failures is one that a test can make fail; one without is in a function
  /// that asked the plan itself, or is none of the cache's.
  private static func sites(in text: String, _ name: String) -> [Site] {
    let calls = ["system(.", "faults?.limit(.", "faults?.strike(."]
    var function = ""
    var sites: [Site] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if let start = line.range(of: "func ") {
        function = String(line[start.upperBound...].prefix { $0.isLetter || $0.isNumber })
      }
      let isCall = calls.contains { line.contains($0) } && !line.contains(", nil)")
      if isCall { sites.append(Site(place: "Larder/\(name):\(index + 1)", function: function)) }
    }
    return sites
  }
}
