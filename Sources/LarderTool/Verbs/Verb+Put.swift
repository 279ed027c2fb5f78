extension Verb {
  /// `larder put`
  static let put = Verb(
    name: "put",
    summary: "Store a value under a key, in place of the older one",
    synonyms: ["store", "set", "add", "save", "write", "cp"],
    operands: [
      .directory, .key,
      Operand(
        role: .file, arity: .optional, placeholder: "FILE|-",
        help: "The file with the value (default, or -: stdin)"),
    ],
    ownOptions: [.putExpires, .fileExtension, .keyFile, .adopt],
    rules: [.oneReaderOfStandardInput],
    notes: [
      """
      A missing directory is made. Nothing is printed; a value that is rejected, because it has \
      expired already, gives status 1 and the reason on stderr, and what was there is removed. \
      Without --ext the file has no extension, whatever else is there.
      """
    ],
    run: { call throws(Failure) in try call.put() })
}

extension Option {
  /// Lifts the check that the directory is one of ours or empty.
  static let adopt = Option(
    "adopt", nil, .flag, "Use a directory that holds only other things all the same")
  /// The lifetime of what is stored.
  static let putExpires = Option(
    "expires", nil, .expiration, "How long the value stays valid, or never (default: 7d)")
}
