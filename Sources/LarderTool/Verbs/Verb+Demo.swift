extension Verb {
  /// `larder demo`
  static let demo = Verb(
    name: "demo",
    summary: "Show the cache at work in a directory of its own",
    synonyms: ["example", "try", "tour"],
    operands: [],
    run: { call throws(Failure) in try call.demo() })
}
