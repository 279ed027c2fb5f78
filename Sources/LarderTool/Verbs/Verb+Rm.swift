extension Verb {
  /// `larder rm`
  static let rm = Verb(
    name: "rm",
    summary: "Remove the values of keys",
    synonyms: ["remove", "delete", "del", "unlink", "evict"],
    operands: [
      .directory,
      Operand(
        role: .key, arity: .oneOrMore, placeholder: "KEY",
        help: "The keys, taken byte for byte"),
    ],
    ownOptions: [.fileExtension, .keyFile],
    notes: ["All keys are tried; if any was not there, the status is 1."],
    run: { call throws(Failure) in try call.rm() })
}
