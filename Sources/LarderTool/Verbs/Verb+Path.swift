extension Verb {
  /// `larder path`
  static let path = Verb(
    name: "path",
    summary: "Print the path of a key's file, whether it is there or not",
    synonyms: ["which", "where", "name", "file"],
    operands: [.directory, .key],
    ownOptions: [.fileExtension, .keyFile],
    run: { call throws(Failure) in try call.path() })
}
