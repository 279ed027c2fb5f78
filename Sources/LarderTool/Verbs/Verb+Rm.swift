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
        help: "The keys, byte for byte, or with --name names"),
    ],
    ownOptions: targetOptions + [.allVariants],
    rules: [.nameIsNoKey, .variantsAreOfKeys],
    notes: [
      """
      KEY is always a key, even if it reads like the name of a file, so that a key without a value \
      never removes another one. With --name, and only then, KEY is the name of an entry's file, \
      as larder list shows it, its beginning, or its path.
      """,
      """
      With --variants, KEY goes with all keys that are joined of it and further parts, under every \
      extension, and the sum is printed. One whose key is not recorded stays, because nothing \
      tells that it is one; how many entries record none is said.
      """,
      """
      All keys and names are tried; if any was not there, the status is 1. One that is ambiguous, \
      a name or the key of several files, ends it before any removal.
      """,
    ],
    run: { call throws(Failure) in try call.rm() })
}

extension Option {
  /// The flag to remove a group of values.
  static let allVariants = Option("variants", nil, .flag, "Remove all variants of KEY too")
}

extension Rule {
  /// The rule that a group is named by its key.
  static let variantsAreOfKeys = Rule("--variants goes without --name and --ext") {
    !$0.has(.allVariants) || !$0.has(.byName) && !$0.has(.fileExtension)
  }
}

extension Call {
  /// Removes the values of keys. A key without a value does not stop it.
  func rm() throws(Failure) -> ExitCode {
    let cache = try openForWriting()
    var tally = RemovalTally()
    var missingCount = 0
    let isOfGroups = arguments.has(.allVariants)
    let targets =
      try isOfGroups
      ? keys().map { Target(argument: $0.bytes, key: $0, name: EntryName($0)) }
      : self.targets(in: cache, isRemoval: true) { problem in
        console.say(problem.sentence)
        missingCount += 1
      }
    for target in targets {
      var isMissing = false
      do throws(CacheError) {
        let removal = try remove(target, from: cache)
        tally.add(removal)
        isMissing = removal.removed == 0 && removal.failed == 0
      } catch {
        tally.failed += 1
        console.say(error.description)
      }
      if isMissing {
        missingCount += 1
        try sayMissing(target, in: cache, isAlone: targets.count == 1)
      }
    }
    var extra = [("missing", JSONValue(missingCount))]
    if isOfGroups { extra.append(("unknown_keys", JSONValue(try sayStaying(in: cache)))) }
    try onCache { () throws(CacheError) in try cache.close() }
    if isJSON {
      try console.print(tally.json(extra: extra))
    } else if isOfGroups {
      try console.print(tally.text)
    }
    if tally.failed > 0 { return .inputOutput }
    return missingCount > 0 ? .finding : .fine
  }

  /// Removes the entry of a target, with `--variants` those of its key's variants too.
  private func remove(
    _ target: Target, from cache: DiskCache
  ) throws(CacheError) -> RemovalTally {
    if arguments.has(.allVariants), let key = target.key {
      let removal = RemovalTally(try cache.removeVariants(of: key))
      if removal.failed > 0 {
        console.say("\(removal.failed.counted("entry")) could not be removed")
      }
      return removal
    }
    let byteCount = try cache.remove(target.name)
    return RemovalTally(removed: byteCount == nil ? 0 : 1, byteCount: byteCount ?? 0)
  }

  /// Reports the entries that may be variants, which nothing tells, and returns their number.
  private func sayStaying(in cache: DiskCache) throws(Failure) -> Int {
    let count = try entries(of: cache).count { $0.key == nil }
    if count > 0 {
      let what = "\(count.counted("entry")) without a recorded key"
      console.say("\(what) \(count == 1 ? "stays" : "stay"), variant or not")
    }
    return count
  }

  /// Reports an entry that was not there. A person is told of the variants of its key, if it alone
  /// was to go: for each of many, a look at all files would take long.
  private func sayMissing(
    _ target: Target, in cache: DiskCache, isAlone: Bool
  ) throws(Failure) {
    let what = target.key == nil ? "name" : "key"
    let hint =
      try isAlone
      ? hint(onMissing: target, in: cache, walks: console.showsProgress, digits: 4...32) : nil
    console.say(
      "no value: the \(what) \(target.argument.quotedForDisplay) has none"
        + (hint.map { "; \($0)" } ?? ""))
  }
}
