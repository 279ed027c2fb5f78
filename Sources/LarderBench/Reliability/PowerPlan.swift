/// What is done before and up to a power cut.
enum PowerPlan {
  static let newKeys = (0..<1_000).map { "new/\($0)" }
  static let oldKeys = (0..<1_000).map { "old/\($0)" }
  /// Keys that are removed; what comes back of them was not removed for good.
  static let goneKeys = (0..<200).map { "gone/\($0)" }

  /// One store or removal.
  struct Step {
    enum Kind: String {
      case store, remove
    }

    let kind: Kind
    let key: String
    let version: Int

    var text: String { "\(kind.rawValue) \(key) \(version)" }

    init(_ kind: Kind, _ key: String, version: Int = 0) {
      (self.kind, self.key, self.version) = (kind, key, version)
    }

    /// Reads a step as it was printed.
    init?(_ line: String) {
      let words = line.split(separator: " ")
      guard words.count == 3, let kind = Kind(rawValue: String(words[0])),
        let version = Int(words[2])
      else { return nil }
      self.init(kind, String(words[1]), version: version)
    }
  }

  /// What is stored, and safe on the disk, before the run.
  static var before: [Step] { (oldKeys + goneKeys).map { Step(.store, $0, version: 1) } }

  /// What happens in the run, in the order that a seed gives.
  static func after(seed: UInt64) -> [Step] {
    var random = StressRandom(seed: seed)
    let stores = newKeys.map { Step(.store, $0, version: 1) }
    let overwrites = oldKeys.map { Step(.store, $0, version: 2) }
    let removals = goneKeys.map { Step(.remove, $0) }
    return (stores + overwrites + removals).shuffled(using: &random)
  }
}
