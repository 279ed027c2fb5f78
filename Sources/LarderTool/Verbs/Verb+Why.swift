extension Verb {
  /// `larder why`
  static let why = Verb(
    name: "why",
    summary: "Say in a sentence what is there for a key, and why a read finds it or not",
    synonyms: ["explain", "debug", "inspect", "diagnose"],
    operands: [.directory, .key],
    ownOptions: [.fileExtension, .keyFile],
    notes: ["The status is 0 when a read would find the value, and 1 when not. Nothing changes."],
    run: { call throws(Failure) in try call.why() })
}
