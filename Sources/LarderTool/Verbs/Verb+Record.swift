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
    ownOptions: [.putExpires, .fileExtension, .keyFile, .adopt],
    rules: [.wholePairs, .oneReaderOfStandardInput],
    notes: [
      """
      Writes each value, its line in DIR/manifest and, where there is none, DIR/.gitattributes. A \
      missing directory is made, and one that holds only other things is refused. The time is the fixture's own, so that the same record gives the \
      same bytes on any day. Tests open DIR with Cache(fixture:).
      """
    ],
    run: { call throws(Failure) in try call.record() })
}

extension Rule {
  /// KEY FILE, and any number of further pairs.
  static let wholePairs = Rule("after FILE, a KEY and a FILE follow in pairs") {
    $0[.file].count % 2 == 1 || $0[.file].isEmpty
  }
}
