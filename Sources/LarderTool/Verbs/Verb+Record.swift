import Larder
import LarderFixtures

extension Verb {
  /// `larder record`
  static let record = Verb(
    name: "record",
    summary: "Record files under keys in a directory that is checked in with tests",
    synonyms: ["tape", "snapshot"],
    operands: [
      .directory, .key,
      Operand(
        role: .file, arity: .any, placeholder: "FILE",
        help: "The file with the value (default, or -: stdin), and further pairs of KEY and FILE"),
    ],
    ownOptions: [.putExpires, .data, .variant, .fileExtension, .keyFile, .adopt],
    rules: [.wholePairs, .dataForOnePair, .oneReaderOfStandardInput],
    notes: [
      """
      Writes each value, its line in DIR/manifest and, where there is none, DIR/.gitattributes. A \
      missing directory is made; one of other things, or a cache without a manifest, is taken only \
      with --adopt. The time is the fixture's own, so that the same record gives the same bytes on \
      any day. The data of --data are kept in the value's line. Tests open DIR with \
      Cache(fixture:).
      """
    ],
    run: { call throws(Failure) in try call.record() })
}

extension Rule {
  /// The rule that KEY and FILE are followed by pairs of both.
  static let wholePairs = Rule("after FILE, a KEY and a FILE follow in pairs") {
    $0[.file].count % 2 == 1 || $0[.file].isEmpty
  }

  /// The rule that `--data` is given for one value only.
  static let dataForOnePair = Rule("--data needs one KEY and FILE alone") {
    !$0.has(.data) || $0[.file].count <= 1
  }
}

extension Call {
  /// Records values in a fixture.
  ///
  /// All files are read before the first value is recorded, because a missing file must change
  /// nothing.
  func record() throws(Failure) -> ExitCode {
    var values: [(key: CacheKey, bytes: [UInt8])] = []
    for (key, path) in try recordedPairs() { values.append((key, try value(of: path))) }
    let data = try extendedData()
    let path = try Self.path(of: arguments.directory)
    try requireFixture(arguments.directory, mayBeMissing: true)
    let expiration = arguments.expiration(.putExpires) ?? .days(7)
    try onCache { () throws(CacheError) in
      let directory = try FixtureDirectory(path, makesDirectory: true)
      let now = try directory.manifest().latestAccess ?? FixtureDirectory.start
      for (key, bytes) in values {
        var recording = FixtureDirectory.Recording(bytes, expiration: expiration)
        recording.extendedData = data
        recording.fileExtension = arguments.fileExtension ?? .none
        try directory.record(recording, forKey: key, at: now)
      }
    }
    if isJSON { try console.print(["schema": 1, "recorded": JSONValue(values.count)]) }
    return .fine
  }

  /// Returns the keys with the paths of their values: the first key and file, and the pairs that
  /// follow.
  private func recordedPairs() throws(Failure) -> [(CacheKey, [UInt8])] {
    let rest = arguments[.file]
    var pairs = [(try key(), rest.first ?? Self.dash)]
    for index in stride(from: 1, to: rest.count - 1, by: 2) {
      pairs.append((CacheKey(joined(rest[index])), rest[index + 1]))
    }
    return pairs
  }

  private func value(of path: [UInt8]) throws(Failure) -> [UInt8] {
    let limit = FixtureDirectory.longestValue
    do throws(Errno) {
      let file = path == Self.dash ? InputFile.standardInput : try InputFile(Path(path))
      let bytes = try file.readToEnd(upTo: limit + 1)
      if bytes.count <= limit { return bytes }
    } catch {
      throw Failure(error, doing: "read \(path.quotedForDisplay)")
    }
    throw .usage(
      "\(path.quotedForDisplay) is longer than 1 GiB, and no read of a fixture takes that")
  }
}
