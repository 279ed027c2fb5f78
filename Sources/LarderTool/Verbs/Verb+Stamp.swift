extension Verb {
  /// `larder stamp`
  static let stamp = Verb(
    name: "stamp",
    summary: "Give entries that were edited or made by hand their stamps and attribute again",
    synonyms: ["bless", "touch", "renew", "sign"],
    operands: [
      .directory,
      Operand(
        role: .file, arity: .any, placeholder: "FILE",
        help: "Names of entries in DIR (default: all)"),
    ],
    ownOptions: [.stampExpires],
    run: { call throws(Failure) in try call.stamp() })
}

extension Option {
  /// The lifetime from now on.
  static let stampExpires = Option(
    "expires", nil, .expiration,
    "How long they stay valid, or never (default: the lifetime on record, or else 7d)")
}
