import Larder

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

extension Call {
  /// Removes the values of keys. A key without a value does not stop it.
  func rm() throws(Failure) -> ExitCode {
    let keys = try keys()
    let cache = try openForWriting()
    var tally = RemovalTally()
    var missingCount = 0
    for (key, name) in zip(keys, try names(of: keys, in: cache)) {
      do throws(CacheError) {
        if let byteCount = try cache.remove(name) {
          tally.removed += 1
          tally.byteCount.addSaturating(UInt64(byteCount))
        } else {
          missingCount += 1
          console.say("no value: the key \(key.bytes.quotedForDisplay) has none")
        }
      } catch {
        tally.failed += 1
        console.say(error.description)
      }
    }
    try onCache { () throws(CacheError) in try cache.close() }
    if isJSON { try console.print(tally.json(extra: [("missing", JSONValue(missingCount))])) }
    if tally.failed > 0 { return .inputOutput }
    return missingCount > 0 ? .finding : .fine
  }
}
