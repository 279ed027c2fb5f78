import Larder

extension Verb {
  /// `larder why`
  static let why = Verb(
    name: "why",
    summary: "Say in a sentence what is there for a key, and why a read finds it or not",
    synonyms: ["explain", "debug", "inspect", "diagnose"],
    operands: [.directory, .key],
    ownOptions: [.fileExtension, .keyFile],
    notes: ["The status is 0 when a read would find the value, and 1 when not. Nothing changes."],
    run: { call throws(Failure) in try call.why() })
}

extension Call {
  /// Reports the state of a key's file, and whether a read finds the value.
  func why() throws(Failure) -> ExitCode {
    let key = try key()
    let lookup = try openForReading()
    let name = try names(of: [key], in: lookup)[0]
    let cache = try openForReading(fileExtension: name.fileExtension)
    let answer = EntryDiagnosis(
      path: cache.path(of: name), name: name.description,
      reason: try missReason(of: key, in: cache),
      entry: try onCache { () throws(CacheError) in try cache.entry(named: name) },
      now: WallClock.system.now(),
      ground: try onCache { () throws(CacheError) in try Ground(of: cache) })
    if isJSON {
      try console.print(answer.json(key))
    } else {
      let head = console.style.bold(Array(answer.path.utf8).escapedForDisplay)
      let width = min(console.width ?? 100, 100)
      let ground = answer.ground.sentence?.wrapped(toWidth: width) ?? []
      try console.print([head] + answer.sentence.wrapped(toWidth: width) + ground)
      suggestAfterWhy(answer, key)
    }
    if answer.reason == nil { return .fine }
    return answer.reason == .otherVersion ? .notACache : .finding
  }

  /// Returns the reason that a read would find nothing; nil if it would find a value. Checks the
  /// content.
  private func missReason(of key: CacheKey, in cache: DiskCache) throws(Failure) -> MissReason? {
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

  private func suggestAfterWhy(_ answer: EntryDiagnosis, _ key: CacheKey) {
    switch answer.reason {
    case .damaged?: suggest("verify", "--repair", "removes what is damaged")
    case .expired?: suggest("stamp", "\(answer.name) --expires 7d", "makes it valid again")
    case .absent?: suggest("list", "", "what is there")
    default: break
    }
  }
}
