import Larder

/// One thread of a front stress run. It checks every value that it reads.
struct FrontWorker {
  private let subject: FrontSubject
  private let writer: UInt64
  private var random: SeededRandom
  private var tally: [String: Int] = [:]

  init(_ subject: FrontSubject, thread: Int) {
    self.subject = subject
    writer = UInt64(thread + 1)
    random = SeededRandom(seed: writer &* 0x9e37 &+ UInt64.random(in: 0..<1 << 32))
  }

  /// Works until a point in time.
  mutating func run(until end: MonotonicTime) {
    while MonotonicTime.now < end {
      for _ in 0..<16 { step() }
      tally["operations", default: 0] += 16
    }
    subject.counts.add(tally)
  }

  private mutating func step() {
    let kinds = UInt64(FrontSubject.Kind.allCases.count)
    let key = UInt64.random(in: 0..<kinds * FrontSubject.keysOfAKind, using: &random)
    do {
      if Int.random(in: 0..<2_000, using: &random) == 0 { return try clear() }
      switch FrontSubject.kind(of: key) {
      case .memory: actInMemory(key)
      case let kind: try act(key, kind)
      }
    } catch {
      subject.counts.violation("errors", "\(error)")
    }
  }

  private mutating func act(_ key: UInt64, _ kind: FrontSubject.Kind) throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<60:
      if kind == .loaded { try load(key) } else { try read(key, kind) }
    case 60..<65: try read(key, kind)
    // After the memory tier was trimmed, the disk must return the same values.
    case 65..<68: subject.cache.memory.trim(toCount: 4)
    case 68..<70: _ = try subject.cache.removeExpired()
    case 70..<92: try store(key, kind)
    default:
      tally["removals", default: 0] += 1
      _ = try change(key, .removal) { _ in try subject.cache.remove(forKey: FrontSubject.name(key))
      }
    }
  }

  /// Makes a change, and records its begin and end in the oracle.
  private func change<Result>(
    _ key: UInt64, _ kind: FreshnessOracle.Change, _ body: (UInt64) throws -> Result
  ) throws -> Result {
    let oracle = subject.oracle(key)
    let version = oracle.begin(kind)
    do {
      let result = try body(version)
      oracle.end(version)
      return result
    } catch {
      oracle.end(version, hasFailed: true)
      throw error
    }
  }

  private mutating func read(_ key: UInt64, _ kind: FrontSubject.Kind) throws {
    tally["reads", default: 0] += 1
    let reading = subject.oracle(key).beginReading()
    let before = WallClock.system.now()
    let bytes = try subject.cache.value(forKey: FrontSubject.name(key))
    let value = bytes.flatMap { judged($0, key, readAt: before) }
    if bytes != nil { tally["hits", default: 0] += 1 }
    switch subject.oracle(key).end(reading, found: value?.version) {
    case .fine: break
    case .replaced:
      subject.counts.violation("replaced_values", "\(key) version \(value?.version ?? 0)")
    case .lost: if kind == .lasting { subject.counts.violation("lost_values", "\(key)") }
    }
  }

  /// Checks some bytes without the oracle and returns their value.
  private func judged(_ bytes: [UInt8], _ key: UInt64, readAt time: Timestamp) -> StressValue? {
    switch StressValue.fault(in: bytes, of: key, readAt: time) {
    case .torn: subject.counts.violation("torn_values", "\(key), \(bytes.count) bytes")
    case .wrongKey: subject.counts.violation("wrong_values", "\(key)")
    case .stale: subject.counts.violation("stale_values", "\(key)")
    case .foreignExpiry, nil: break
    }
    return StressValue(bytes)
  }

  private mutating func store(_ key: UInt64, _ kind: FrontSubject.Kind) throws {
    tally["stores", default: 0] += 1
    let count = Int.random(in: 0...4_000, using: &random)
    let wait = expiry(kind)
    _ = try change(key, .store) { version in
      let value = makeValue(key, version, wait)
      return try subject.cache.store(
        value.bytes(fillingCount: count), forKey: FrontSubject.name(key),
        expiration: value.expiration)
    }
  }

  /// Returns the validity of a new value; nil for ever. Some values have expired before they are
  /// stored.
  private mutating func expiry(_ kind: FrontSubject.Kind) -> Duration? {
    guard kind == .expiring || kind == .memory, Bool.random(using: &random) else { return nil }
    return .milliseconds(Int.random(in: -5...200, using: &random))
  }

  private func makeValue(_ key: UInt64, _ version: UInt64, _ wait: Duration?) -> StressValue {
    let now = WallClock.system.now()
    return StressValue(
      key: key, version: version, writer: writer, validity: wait == nil ? .never : .date,
      lifetime: 0, made: now, date: now.adding(wait ?? .zero))
  }

  /// Reads a value that is loaded after a miss. The oracle does not judge it, because a value
  /// stored meanwhile may be newer.
  private mutating func load(_ key: UInt64) throws {
    tally["requests", default: 0] += 1
    let (subject, before) = (subject, WallClock.system.now())
    let writer = self
    let bytes = try BlockingTask.run {
      try await subject.cache.value(forKey: FrontSubject.name(key)) {
        subject.beginLoad(key)
        defer { subject.endLoad(key) }
        let version = subject.oracle(key).begin(.load)
        await Task.yield()
        return writer.makeValue(key, version, nil).bytes(fillingCount: 500)
      }
    }
    _ = judged(bytes, key, readAt: before)
  }

  private mutating func clear() throws {
    tally["clearings", default: 0] += 1
    let removals = subject.beginRemovals(of: [.lasting, .expiring, .loaded])
    do {
      try subject.cache.removeAll()
    } catch {
      for (oracle, version) in removals { oracle.end(version, hasFailed: true) }
      throw error
    }
    for (oracle, version) in removals { oracle.end(version) }
  }
}

extension FrontWorker {
  private mutating func actInMemory(_ key: UInt64) {
    let (memory, oracle) = (subject.memory, subject.oracle(key))
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<55: readInMemory(key)
    case 55..<58: memory.trim(toCount: Int.random(in: 0...8, using: &random))
    case 58..<60: memory.removeExpired()
    case 60..<62: memory.respond(to: .reduce(share: 0.5))
    case 62..<64: memory.respond(to: .restore)
    case 64..<92:
      let wait = expiry(.memory)
      let version = oracle.begin(.store)
      let value = makeValue(key, version, wait)
      memory.store(value, forKey: key, expiration: value.expiration)
      oracle.end(version)
    default:
      let version = oracle.begin(.removal)
      memory.remove(forKey: key)
      oracle.end(version)
    }
  }

  private mutating func readInMemory(_ key: UInt64) {
    let (memory, oracle) = (subject.memory, subject.oracle(key))
    tally["memory_reads", default: 0] += 1
    let reading = oracle.beginReading()
    let before = WallClock.system.now()
    let value = memory.value(forKey: key)
    let verdict = oracle.end(reading, found: value?.version)
    guard let value else { return }
    tally["memory_hits", default: 0] += 1
    if value.key != key { subject.counts.violation("wrong_values", "\(key) in memory") }
    // The memory tier uses the coarse clock, which may lag by a tick.
    if value.validity == .date, value.date.adding(.milliseconds(20)) <= before {
      subject.counts.violation("stale_values", "\(key) in memory")
    }
    if case .replaced = verdict {
      subject.counts.violation("replaced_values", "\(key) version \(value.version) in memory")
    }
  }
}
