import Larder

extension Verb {
  /// `larder why`
  static let why = Verb(
    name: "why",
    summary: "Say in a sentence what is there for a key, and why a read finds it or not",
    synonyms: ["explain", "debug", "inspect", "diagnose"],
    operands: [.directory, .keyOrName],
    ownOptions: targetOptions,
    rules: [.nameIsNoKey],
    notes: [
      targetNote,
      """
      The status is 0 when a read would find the value, 3 when another version of the format \
      wrote the file, and else 1. Nothing changes.
      """,
    ],
    run: { call throws(Failure) in try call.readingFixture().why() })
}

extension Call {
  /// Reports the state of a key's file, and whether a read finds the value.
  func why() throws(Failure) -> ExitCode {
    let lookup = try openForReading()
    let target = try target(in: lookup)
    let name = target.name
    let cache = try openForReading(fileExtension: name.fileExtension)
    let original = try original(of: lookup)
    let refusal = fixtureCopy?.refusal(of: name)
    var reason = refusal
    if reason == nil { reason = try missReason(of: target, in: cache) }
    let entry = try onCache { () throws(CacheError) in try cache.entry(named: name) }
    // A read does not look at the content of what has expired.
    let rest =
      reason == .expired ? try missReason(ofFile: name, in: cache, allowingExpired: true) : nil
    let answer = EntryDiagnosis(
      path: original.path(of: name), name: name.description, reason: reason,
      entry: entry.map { fixtureCopy?.entry($0) ?? $0 }, now: now,
      ground: try onCache { () throws(CacheError) in try Ground(of: original) },
      isDamagedToo: rest == .damaged, isLeftOut: refusal != nil,
      hint: reason == .absent ? try hint(onMissing: target, in: lookup, walks: true) : nil)
    if isJSON {
      try console.print(answer.json(target.key, clockMembers))
    } else {
      let head = console.style.bold(Array(answer.path.utf8).escapedForDisplay)
      let width = console.width.map { min($0, 100) } ?? .max
      let ground = answer.ground.sentence?.wrapped(toWidth: width) ?? []
      try console.print([head] + answer.sentence.wrapped(toWidth: width) + ground)
      suggestAfterWhy(answer)
    }
    if answer.reason == nil { return .fine }
    return answer.reason == .otherVersion ? .notACache : .finding
  }

  /// Returns the reason that a read would find nothing; nil if it would find a value. Checks the
  /// content.
  private func missReason(of target: Target, in cache: DiskCache) throws(Failure) -> MissReason? {
    guard let key = target.key else { return try missReason(ofFile: target.name, in: cache) }
    do {
      let isThere: Bool? = try cache.withFile(forKey: key, extending: .off) {
        _ in true
      }
      return isThere == nil ? cache.statistics.misses.keys.first ?? .absent : nil
    } catch let error as CacheError {
      throw Failure(error, directory: arguments.directory)
    } catch {
      throw Failure(unexpected: error)
    }
  }

  private func suggestAfterWhy(_ answer: EntryDiagnosis) {
    switch fixtureCopy == nil ? answer.reason : nil {
    case .damaged?: suggest("verify", "--repair", "removes what is damaged")
    case .expired?: suggest("stamp", "\(answer.name) --expires 7d", "makes it valid again")
    case .absent?: suggest("list", "", "what is there")
    default: break
    }
  }
}
