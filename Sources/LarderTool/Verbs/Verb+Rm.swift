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
    ownOptions: targetOptions,
    rules: [.nameIsNoKey],
    notes: [
      targetNote, "All keys are tried; if any was not there, the status is 1.",
    ],
    run: { call throws(Failure) in try call.rm() })
}

extension Call {
  /// Removes the values of keys. A key without a value does not stop it.
  func rm() throws(Failure) -> ExitCode {
    let cache = try openForWriting()
    var tally = RemovalTally()
    var missingCount = 0
    for target in try targets(in: cache) {
      var isMissing = false
      do throws(CacheError) {
        if let byteCount = try cache.remove(target.name) {
          tally.removed += 1
          tally.byteCount.addSaturating(UInt64(byteCount))
        } else {
          isMissing = true
        }
      } catch {
        tally.failed += 1
        console.say(error.description)
      }
      if isMissing {
        missingCount += 1
        try sayMissing(target, in: cache)
      }
    }
    try onCache { () throws(CacheError) in try cache.close() }
    if isJSON { try console.print(tally.json(extra: [("missing", JSONValue(missingCount))])) }
    if tally.failed > 0 { return .inputOutput }
    return missingCount > 0 ? .finding : .fine
  }

  /// Reports an entry that was not there. A person is told of the variants of its key.
  private func sayMissing(_ target: Target, in cache: DiskCache) throws(Failure) {
    let what = target.key == nil ? "name" : "key"
    let variants = console.showsProgress ? try variantsSentence(of: target, in: cache) : nil
    console.say(
      "no value: the \(what) \(target.argument.quotedForDisplay) has none"
        + (variants.map { "; \($0) (--variant)" } ?? ""))
  }
}
