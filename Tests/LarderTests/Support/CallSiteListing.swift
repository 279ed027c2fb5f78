import Foundation

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk

/// The places in LarderSystem's source from which a cache makes system calls.
struct CallSiteListing {
  /// A place, and the function around it.
  struct Site {
    let place: String
    let function: String
  }

  let sites: [Site]

  /// Functions whose calls no test of an ordinary user can reach, with the reasons.
  static let excused: [String: String] = [
    "setOwner": "only root gives files away",
    "setMode": "only under a umask that takes the owner's own bits; the script owners has one",
    "inMemory": "a value that waits to be written, lent as a file; see `Beside a pending value`",
    "allowsChanges": "asked after EACCES alone; see `passes over a file that alone refuses`",
    "openCached": "reads of tasks; see `A read without a switch of threads`",
    "readPrompt": "the same",
    "cachedPageCount": "the same",
    "lock": "the recorder's lock on a fixture; no entry is ever waited for",
    "byteLock": "loads that processes share; see `a lock that cannot be had keeps no load`",
  ]

  /// The file whose calls are not made by a cache on its directory.
  private static let other = "PressureSource.swift"

  init() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources/LarderSystem").standardizedFileURL
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    var sites: [Site] = []
    for path in paths where path.hasSuffix(".swift") {
      let name = String(path.split(separator: "/").last ?? "")
      if name == Self.other { continue }
      let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
      sites += Self.sites(in: text, name)
    }
    self.sites = sites
  }

  /// Returns the calls in a source text. A call that checks the plan of failures can be made to
  /// fail by a test. A call without a plan is in a function that checked it before, or is not the
  /// cache's.
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
      if isCall {
        sites.append(Site(place: "LarderSystem/\(name):\(index + 1)", function: function))
      }
    }
    return sites
  }
}
