import Testing

/// What the explorer of schedules runs of the public functions, read from the sources of both.
///
/// A synchronous function and its asynchronous spelling count as one.
struct `The explorer of schedules` {
  /// The verbs that run a function. `Cache` and `DiskCache` share names.
  private static let verbs = [
    "store(_:forKey:expiration:extendedData:)": "SQ",
    "storeIfAbsent(_:forKey:expiration:extendedData:)": "A",
    "store(forKey:expiration:extendedData:_:)": "Wa",
    "store(contentsOfFile:forKey:expiration:extendedData:)": "q",
    "value(forKey:)": "R", "value(forKey:extending:)": "R", "value(forKey:options:)": "R",
    "value(forKey:expiration:options:orStore:)": "OJc~&",
    "value(forKey:options:orRevalidate:)": "I",
    "read(forKey:extending:allowingExpired:)": "V", "withFile(forKey:extending:_:)": "F",
    "withFile(forKey:expiration:extendedData:_:orStore:)": "K",
    "remove(forKey:)": "D", "removeValue(forKey:)": "e", "removeVariants(of:)": "x",
    "removeAll()": "X", "removeAllInBackground()": "B", "removeAll(where:)": "j",
    "removeExpired()": "E", "trim(toCount:)": "T", "trim(toCost:)": "U", "trim(toAge:)": "d",
    "touch(forKey:expiration:allowingExpired:)": "Y", "stamp(_:expiration:)": "f",
    "verify(repairs:_:)": "v", "flush()": "G", "close()": "C", "respond(to:)": "p",
    // The first question for a total starts the scan.
    "count()": "N", "totalSize(_:)": "Z", "entries(byUse:)": "L",
    "memory.removeAll()": "M", "memory.trim(toCount:)": "M", "memory.trim(toCost:)": "M",
    "memory.trim(toAge:)": "M", "memory.removeExpired()": "M", "memory.remove(forKey:)": "M",
    "memory.costLimit": "g", "memory.countLimit": "g", "memory.ageLimit": "g",
    "EntryStream.write(_:)": "W", "EntryFileWriter.write(_:)": "aK", "RemovalProgress.wait()": "B",
  ]

  /// Functions that change nothing, or run one of those above.
  private static let others: Set = [
    "tier(forKey:)", "contains(_:)", "keys()", "path(forKey:)",
    "entry(forKey:allowingExpired:)", "survey()",
    "removals(bufferingNewest:)", "memory.removals(bufferingNewest:)", "memory.peek(_:)",
    "memory.contains(_:)",
  ]

  /// Functions that no verb runs yet, and why.
  private static let missing = [
    "values(forKeys:)": "a read for each key, on the executor's threads",
    "store(contentsOf:expiration:)": "a store for each key, on the executor's threads",
    "remove(forKeys:)": "a removal for each key, on the executor's threads",
    "openFile(forKey:extending:)": "withFile without an end, which scenes have not",
    "EntryFileWriter.setExpiration(_:)": "the judge takes the lifetime from the verb",
    "EntryFileWriter.setExtendedData(_:)": "the judge compares values alone",
    "memory.value(forKey:)": "a bare memory cache: one lock and no files, in the runs of threads",
    "memory.value(forKey:extending:)": "as that",
    "memory.subscript": "as that", "memory.store(_:forKey:cost:expiration:)": "as that",
    "memory.respond(to:)": "runs inside Cache.respond(to:)",
    "MemoryPressureMonitor.attach(_:)": "waits for the kernel's pressure, which no scene makes",
    "MemoryPressureMonitor.detach(_:)": "as attach(_:)",
    "MemoryPressureMonitor.signal()": "as attach(_:)", "MemoryPressureMonitor.stop()": "as that",
  ]

  private static let owners = [
    "Cache": "", "DiskCache": "", "MemoryCache": "memory.", "EntryStream": "EntryStream.",
    "EntryFileWriter": "EntryFileWriter.", "RemovalProgress": "RemovalProgress.",
    "MemoryPressureMonitor": "MemoryPressureMonitor.",
  ]

  /// Returns the public functions of a text's caches, and the properties that can be set.
  private static func functions(in text: String) -> Set<String> {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var functions: Set<String> = []
    var owner: String?
    for (index, line) in lines.enumerated() {
      if line.first?.isLetter == true,
        let match = line.firstMatch(of: #/^(?:[a-z]+ )*(?:extension|class|struct|enum) ([\w.]+)/#)
      {
        owner = owners[String(match.output.1)]
      }
      // Members alone, and not those of the types inside.
      guard let owner, line.hasPrefix("  public ") else { continue }
      let next = lines.dropFirst(index + 1).prefix(14)
      if let match = line.firstMatch(of: #/ func (\w+)(.*)/#) {
        let signature = ([match.output.2] + next).joined(separator: " ")
        let labels = Declarations.labels(of: signature) ?? []
        functions.insert("\(owner)\(match.output.1)(\(labels.map { "\($0):" }.joined()))")
      } else if line.contains(" subscript") {
        functions.insert("\(owner)subscript")
      } else if let match = line.firstMatch(of: #/ var (\w+): .*\{$/#),
        next.first?.hasPrefix("    get ") == true
      {
        functions.insert("\(owner)\(match.output.1)")
      }
    }
    return functions
  }

  private static func functions() throws -> Set<String> {
    try ["Larder", "LarderDisk", "LarderMemory"].reduce(into: []) { all, module in
      for file in try `The house`.code(below: "Sources/\(module)") {
        all.formUnion(functions(in: file.text))
      }
    }
  }

  @Test func `a public function that changes something has a verb`() throws {
    let known = Set(Self.verbs.keys).union(Self.others).union(Self.missing.keys)
    let functions = try Self.functions()
    #expect(functions.subtracting(known) == [], "give it a verb, or say why it has none")
    #expect(known.subtracting(functions) == [], "there is no such function")
  }

  @Test(arguments: verbs.keys.sorted())
  func `a verb calls its function`(_ function: String) throws {
    let sources = try Readme.text(of: "Tests/Schedules/Performing.swift")
    let name = function.split(separator: ".").last ?? ""
    let first = name.split(separator: ":")[0]
    // As far as the first label says: `.trim(toCount:`, `.store(`.
    let call = first.hasSuffix("(_") ? first.dropLast() : first
    let isCalled = sources.contains(".\(call)")
    #expect(isCalled, "\(function)")
  }

  @Test func `every verb is drawn for new scenes and explained`() throws {
    let scene = try Readme.text(of: "Tests/Schedules/Scene.swift")
    let names = scene.matches(of: #/\b(\w+) =\s+"(\S)"/#).map { String($0.output.2) }
    let moves = try Readme.text(of: "Tests/Schedules/Moves.swift")
    // Scenes of shared loads are drawn letter by letter.
    let turns = try Readme.text(of: "Tests/Schedules/TurnScenes.swift")
      .matches(of: #/Array\("([^"]+)"\)/#).map { String($0.1) }.joined()
    let table = try Readme.text(of: "Tests/Reliability/README.md").split(separator: "\n")
      .filter { $0.hasPrefix("| `") && $0.contains("` |") }.joined()
    #expect(names.count > 40)
    for letter in Set(names).union(Self.verbs.values.joined().map(String.init)) {
      let isDrawn =
        try turns.contains(letter) || moves.contains(Regex("\"\(letter)[?0-9a-z]*\""))
      let isExplained = table.contains("`\(letter)`")
      #expect(names.contains(letter) && isDrawn && isExplained, "\(letter)")
    }
  }
}
