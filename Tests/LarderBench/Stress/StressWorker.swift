import Larder

/// A thread that applies all operations to the shared directory, in an order that its seed gives,
/// and checks every value that it reads.
struct StressWorker {
  private let cache: Cache<[UInt8]>
  private let counts: StressCounts
  private let keyCount: UInt64
  private let writer: UInt64
  private let mayStore: Bool
  private let mayClear: Bool
  private let clock: WallClock
  /// Whether failures of the file system are expected, and therefore only counted.
  private let isNetwork: Bool
  private let isWholeBlocks: Bool
  private var random: SeededRandom
  private var version: UInt64 = 0
  private var tally: [String: Int] = [:]
  /// The version that this thread last stored under each key of its own; 0 after a removal.
  private var own: [UInt64: UInt64] = [:]

  /// The mean length of a value.
  static let meanByteCount = 8 << 10
  private static let blockByteCount = 4096
  private static let ownKeyCount: UInt64 = 32

  init(
    _ cache: Cache<[UInt8]>, _ counts: StressCounts, _ options: StressOptions, thread: Int
  ) {
    self.cache = cache
    self.counts = counts
    keyCount = UInt64(4 * options.limit / Self.meanByteCount)
    writer = UInt64(options.number) << 32 | UInt64(thread + 1)
    mayStore = options.role != .reader
    clock = options.clock
    isNetwork = options.other != nil
    isWholeBlocks = options.ownsFileSystem
    mayClear = options.role == .clearer && thread == 0
    // Partly random, so that the successor of a killed writer does not repeat the same operations.
    random = SeededRandom(seed: writer &* 0x9e37 &+ UInt64.random(in: 0..<1 << 32))
  }

  static func key(_ number: UInt64) -> String { "https://example.org/stress/\(number)" }

  /// Works until a point in time.
  mutating func run(until end: MonotonicTime) {
    while MonotonicTime.now < end {
      for _ in 0..<16 {
        step()
        tally["operations", default: 0] += 1
      }
    }
    counts.add(tally)
  }

  private mutating func step() {
    let isOwn = mayStore && Int.random(in: 0..<8, using: &random) == 0
    let key =
      isOwn
      ? 1 << 63 | writer << 16 | UInt64.random(in: 0..<Self.ownKeyCount, using: &random)
      : popularKey()
    do {
      try act(on: key, isOwn)
    } catch {
      // A server that is killed may be an error of an operation.
      counts.violation(isNetwork ? "errors_surfaced" : "errors", "\(error)")
      // The result of a failed operation is unknown.
      own[key] = nil
    }
  }

  /// Returns a key of the working set, lower numbers more often.
  private mutating func popularKey() -> UInt64 {
    let share = Double.random(in: 0..<1, using: &random)
    return UInt64(share * share * Double(keyCount))
  }

  private mutating func act(on key: UInt64, _ isOwn: Bool) throws {
    if mayClear && Int.random(in: 0..<100, using: &random) == 0 {
      try cache.removeAll()
      own = own.mapValues { _ in 0 }
      tally["clearings", default: 0] += 1
    }
    switch mayStore ? Int.random(in: 0..<100, using: &random) : 0 {
    case 0..<48: try read(key)
    case 48..<52: _ = try cache.contains(Self.key(key))
    case 52..<92: try store(key, isOwn)
    default: try remove(key, isOwn)
    }
  }

  private mutating func read(_ key: UInt64) throws {
    let before = WallClock.system.now()
    let found: [UInt8]?
    switch Int.random(in: 0..<4, using: &random) {
    case 0: found = try cache.disk.value(forKey: Self.key(key))
    case 1: found = try cache.disk.read(forKey: Self.key(key))?.value
    default: found = try cache.value(forKey: Self.key(key))
    }
    tally["reads", default: 0] += 1
    guard let found else { return }
    tally["hits", default: 0] += 1
    switch StressValue.fault(in: found, of: key, readAt: before) {
    case .torn: counts.violation("torn_values", "served for \(key), \(found.count) bytes")
    case .wrongKey: counts.violation("wrong_values", "\(key)")
    case .stale: counts.violation("stale_values", "\(key)")
    case .foreignExpiry, nil: break
    }
    if let last = own[key], let value = StressValue(found), value.version != last {
      counts.violation("lost_updates", "\(key): stored \(last), read \(value.version)")
    }
  }

  private mutating func store(_ key: UInt64, _ isOwn: Bool) throws {
    version += 1
    let value = makeValue(key)
    let bytes = value.bytes(fillingCount: fillingCount())
    tally["stores", default: 0] += 1
    let outcome: StoreOutcome
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      outcome = try cache.disk.storeIfAbsent(
        bytes, forKey: Self.key(key), expiration: value.expiration)
    case 1: outcome = try storeInPieces(bytes, value)
    case 2:
      outcome = try cache.disk.store(bytes, forKey: Self.key(key), expiration: value.expiration)
    default: outcome = try cache.store(bytes, forKey: Self.key(key), expiration: value.expiration)
    }
    // This process can already read a value that waits to be written.
    if isOwn && (outcome == .stored || outcome == .pending) { own[key] = version }
    if isOwn && outcome == .rejected(.expired) { own[key] = 0 }
  }

  private mutating func fillingCount() -> Int {
    let byteCount = Int.random(in: 0...2 * Self.meanByteCount, using: &random)
    if !isWholeBlocks { return byteCount }
    return (byteCount % 3 + 1) * Self.blockByteCount - StressValue.headerByteCount
  }

  private func storeInPieces(_ bytes: [UInt8], _ value: StressValue) throws -> StoreOutcome {
    try cache.disk.store(forKey: Self.key(value.key), expiration: value.expiration) { stream in
      try stream.write(Array(bytes[..<(bytes.count / 2)]))
      try stream.write(Array(bytes[(bytes.count / 2)...]))
    }
  }

  private mutating func makeValue(_ key: UInt64) -> StressValue {
    let now = clock.now()
    var (validity, lifetime) = (StressValue.Validity.seconds, Int64(3600))
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: (validity, lifetime) = (.never, 0)
    case 2: lifetime = 1
    case 3: lifetime = 4
    case 4: (validity, lifetime) = (.date, 0)
    default: break
    }
    let wait = Duration.milliseconds(Int.random(in: 50...2_000, using: &random))
    return StressValue(
      key: key, version: version, writer: writer, validity: validity, lifetime: lifetime,
      made: now, date: now.adding(wait))
  }

  private mutating func remove(_ key: UInt64, _ isOwn: Bool) throws {
    let isFromDisk = Bool.random(using: &random)
    tally["removals", default: 0] += 1
    if isFromDisk {
      try cache.disk.remove(forKey: Self.key(key))
    } else {
      try cache.remove(forKey: Self.key(key))
    }
    if isOwn { own[key] = 0 }
  }
}
