extension Verb {
  /// `larder get`
  static let get = Verb(
    name: "get",
    summary: "Write the value of a key to stdout or a file",
    synonyms: ["read", "cat", "fetch", "show", "load"],
    operands: [.directory, .key],
    ownOptions: [.output, .used, .fileExtension, .keyFile],
    rules: [.jsonNeedsOutput],
    notes: [
      """
      A miss gives status 1, nothing on stdout and no file. The value is checked in full before \
      its first byte leaves, and FILE appears when it is whole. What is no regular file, such as \
      /dev/null, is written in place.
      """
    ],
    run: { call throws(Failure) in try call.get() })
}

extension Option {
  /// Where the value goes.
  static let output = Option("output", "o", .file, "Write the value to a file (-: stdout)")
  /// Makes reading leave a trace; looking by itself leaves none.
  static let used = Option("used", nil, .flag, "Count as use: move the last access and the expiry")
}

extension Rule {
  /// The object and the value cannot share stdout.
  static let jsonNeedsOutput = Rule("--json needs -o FILE, since the value would mix with it") {
    !$0.has(.json) || ($0.file(.output) ?? [0x2D]) != [0x2D]
  }
}
