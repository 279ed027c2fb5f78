import Larder

extension Call {
  /// Packs, unpacks or checks a fixture.
  func fixture() throws(Failure) -> ExitCode {
    let directory = try Self.path(of: arguments.directory)
    let target = try arguments[.otherDirectory].first.map { (path) throws(Failure) in
      try Self.path(of: path)
    }
    switch FixtureAction(arguments) {
    case .pack:
      let count = try onCache { () throws(CacheError) in
        try FixtureDirectory(target ?? directory, makesDirectory: true).pack(from: directory)
      }
      try report("packed", count)
    case .unpack:
      let count = try onCache { () throws(CacheError) in
        try FixtureDirectory(directory).unpack(into: target ?? directory)
      }
      try report("unpacked", count)
    case .check, nil:
      let (count, findings) = try onCache { () throws(CacheError) in
        try FixtureDirectory(directory).check()
      }
      try report(findings, among: count)
      return findings.isEmpty ? .fine : .finding
    }
    return .fine
  }

  private func report(_ what: String, _ count: Int) throws(Failure) {
    if isJSON { return try console.print(["schema": 1, "entries": JSONValue(count)]) }
    try console.print("\(what) \(count) \(count == 1 ? "entry" : "entries")\n")
  }

  private func report(_ findings: [FixtureFinding], among count: Int) throws(Failure) {
    if isJSON {
      let list = findings.map { finding -> JSONValue in
        ["name": .string(finding.name), "finding": .string(finding.kind.rawValue)]
      }
      return try console.print([
        "schema": 1, "entries": JSONValue(count), "findings": .array(list),
      ])
    }
    var text = findings.map { "\($0.kind.rawValue.padded(to: 11)) \($0.name)\n" }.joined()
    text += "checked \(count) \(count == 1 ? "entry" : "entries"): "
    text += findings.isEmpty ? "all as the manifest says\n" : "\(findings.count) to look at\n"
    try console.print(text)
    for kind in FixtureFinding.Kind.allCases where findings.contains(where: { $0.kind == kind }) {
      console.say("\(kind.rawValue): \(kind.cure)")
    }
  }
}

extension FixtureFinding.Kind {
  /// What it means and what to do about it.
  var cure: String {
    switch self {
    case .missing: "the manifest lists it and there is no file; record it, or pack DIR"
    case .unlisted: "no line of the manifest is its own; record it, or pack DIR"
    case .changed: "the content is not what was recorded; pack DIR takes it as it is"
    case .misnamed: "the key on record has another name; record it again"
    case .unsorted: "the lines are not in order, as after a merge; pack DIR sorts them"
    case .unprotected: "git could convert line endings; pack DIR writes the file"
    }
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: " ", count: max(0, count - utf8.count))
  }
}
