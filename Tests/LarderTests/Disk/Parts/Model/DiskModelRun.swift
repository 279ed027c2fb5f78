@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderMemory
@testable import LarderSystem

/// A run of operations on a cache and on the model, in an order from a generator, with a manual
/// clock and some failures. A result that the model does not allow is thrown as a sentence.
struct DiskModelRun<Random: RandomNumberGenerator> {
  /// A result that the model does not allow.
  struct Divergence: Error, CustomStringConvertible {
    let description: String
  }

  private let path: String
  private let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  private let faults = FaultInjector()
  private var cache: DiskCache
  private var model = DiskModel()
  private var random: Random
  private let mayFail: Bool
  private var trail: [String] = []
  private var version: UInt8 = 0
  private static var keys: [String] { ["a", "b", "", "d/e", "\u{0}", "f", "g", "é"] }

  init(path: String, random: Random, mayFail: Bool) throws {
    (self.path, self.random, self.mayFail) = (path, random, mayFail)
    cache = try Self.open(path, clock, faults)
  }

  private static func open(
    _ path: String, _ clock: ManualClock, _ faults: FaultInjector
  ) throws -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.clock = clock.wallClock
    configuration.faults = faults
    configuration.extending = .lifetime
    // Each use is stamped at once, so that the content of the disk is known.
    configuration.recencyGranularity = .zero
    return try DiskCache(directory: path, configuration: configuration)
  }

  /// Runs one operation.
  mutating func step() throws {
    clock.advance(by: .milliseconds(Int.random(in: 1...1_500, using: &random)))
    let isFailing = mayFail && planFailure()
    let key = Self.keys.randomElement(using: &random) ?? ""
    try act(key, isFailing)
    // The evictor comes to rest before the failures end and the next step begins.
    do { try cache.flush() } catch { if !isFailing { throw error } }
    faults.reset()
  }

  private mutating func act(_ key: String, _ isFailing: Bool) throws {
    switch UInt8.random(in: 0..<100, using: &random) {
    case 0..<30: try store(key, isFailing)
    case 30..<60: try read(key, isFailing)
    case 60..<70: try remove(key, isFailing)
    case 70..<76: try check(key, isFailing)
    case 76..<82: try removeExpired(isFailing)
    case 82..<87: try trim(isFailing)
    case 87..<89: try removeAll(isFailing)
    case 89..<93: jump()
    case 93..<98: try reopen()
    default: try compareAll()
    }
  }

  /// Ends the run: reads everything and checks the directory.
  mutating func end() throws {
    try reopen()
    try compareAll()
    let damaged = try cache.verify().damaged
    if !damaged.isEmpty { throw diverged("damaged: \(damaged)") }
    // Files that a failed removal has left are removed by the next scan.
    _ = try cache.count()
    if try cache.survey().temporaryCount > 0 { throw diverged("temporaries") }
    try cache.close()
  }

  private func diverged(_ what: String) -> Divergence {
    Divergence(description: "\(what), after \(trail.suffix(40).joined(separator: "; "))")
  }

  /// The errors to inject. None says that an existing file is gone, because the cache would believe
  /// it.
  private static var errnos: [Errno] {
    [.ioError, .noSpace, .permissionDenied, .noMemory, .tooManyOpenFiles, .interrupted, .noSpace]
  }

  private mutating func planFailure() -> Bool {
    guard UInt8.random(in: 0..<4, using: &random) == 0,
      let call = SystemCall.allCases.randomElement(using: &random),
      let errno = Self.errnos.randomElement(using: &random)
    else { return false }
    let n = Int.random(in: 1...3, using: &random)
    let onwards = Bool.random(using: &random) && errno != .interrupted
    faults.plan(.errno(errno), for: call, at: n, onwards: onwards)
    trail.append("fail \(call.rawValue) \(n)\(onwards ? "+" : "") \(errno.rawValue)")
    return errno != .interrupted
  }
}

extension DiskModelRun {
  /// Runs an operation, which may fail if a failure is planned.
  private func attempt<Value>(
    _ isFailing: Bool, _ operation: (DiskCache) throws -> Value
  ) throws -> Result<Value, CacheError> {
    do {
      return .success(try operation(cache))
    } catch {
      guard isFailing, let failure = error as? CacheError else { throw error }
      return .failure(failure)
    }
  }

  private mutating func store(_ key: String, _ isFailing: Bool) throws {
    let entry = newEntry()
    let isExclusive = UInt8.random(in: 0..<4, using: &random) == 0
    let expiration: Expiration = entry.lifetime.map { .seconds(Int($0)) } ?? .never
    let verb = isExclusive ? "store if absent" : "store"
    trail.append("\(verb) \(key.debugDescription) \(version) for \(entry.lifetime ?? -1)")
    let old = model.possible(key, at: clock.now)
    let outcome = try attempt(isFailing) { cache in
      isExclusive
        ? try cache.storeIfAbsent(entry.bytes, forKey: key, expiration: expiration)
        : try cache.store(entry.bytes, forKey: key, expiration: expiration)
    }
    // On a full disk, the cache evicts.
    if isFailing { model.mayHaveLost() }
    switch outcome {
    case .success(.stored):
      if isExclusive && !old.contains(nil) && !isFailing { throw diverged("stored over \(key)") }
      model.set(key, [entry])
      model.use(key)
    case .success(let rejection):
      if !isExclusive || old == [nil] { throw diverged("\(rejection) of \(key)") }
    case .failure(let error):
      // As promised: there is no value, or the older one and the error says so. The older one may
      // have expired, and be there again when the clock is set back.
      if isExclusive || error.oldValueRemains {
        model.add(key, [nil])
      } else {
        model.set(key, [nil])
      }
      model.loseOrder()
    }
  }

  private mutating func newEntry() -> DiskModel.Entry {
    version &+= 1
    let count = [0, 1, 3, 5_000][Int.random(in: 0..<4, using: &random)]
    let lifetime: Int64? = [nil, 1, 10, 100][Int.random(in: 0..<4, using: &random)]
    let expiry = lifetime.map { clock.now.adding(seconds: $0) } ?? .never
    return DiskModel.Entry(
      bytes: [UInt8](repeating: version, count: count), expiry: expiry, lifetime: lifetime)
  }

  private mutating func read(_ key: String, _ isFailing: Bool) throws {
    trail.append("read \(key.debugDescription)")
    let outcome = try attempt(isFailing) { try $0.value(forKey: key) }
    if case .success(let bytes) = outcome {
      try compare(key, bytes, isFailing)
      if bytes != nil { model.extend(key, at: clock.now, isCertain: !isFailing) }
    }
    if isFailing { model.loseOrder() }
  }

  /// Compares the result of a read with the possible states, and keeps those that fit.
  private mutating func compare(_ key: String, _ bytes: [UInt8]?, _ isFailing: Bool) throws {
    // A read that fails may be a miss.
    if isFailing && bytes == nil { return }
    let fitting = model.possible(key, at: clock.now).filter { $0?.bytes == bytes }
    if fitting.isEmpty {
      throw diverged("\(key.debugDescription) is \(bytes?.first as Any), \(bytes?.count as Any)")
    }
    if bytes != nil { model.set(key, fitting) }
  }

  private mutating func check(_ key: String, _ isFailing: Bool) throws {
    trail.append("contains \(key.debugDescription)")
    guard case .success(let isThere) = try attempt(isFailing, { try $0.contains(key) }) else {
      return
    }
    let possible = model.possible(key, at: clock.now)
    if isFailing || possible.contains(where: { ($0 != nil) == isThere }) { return }
    throw diverged("contains \(key.debugDescription): \(isThere)")
  }

  private mutating func remove(_ key: String, _ isFailing: Bool) throws {
    trail.append("remove \(key.debugDescription)")
    if case .success = try attempt(isFailing, { try $0.remove(forKey: key) }) {
      model.set(key, [nil])
    } else {
      model.add(key, [nil])
      model.loseOrder()
    }
  }

  private mutating func removeExpired(_ isFailing: Bool) throws {
    trail.append("removeExpired")
    let outcome = try attempt(isFailing) { try $0.removeExpired() }
    if case .success = outcome, !isFailing {
      model.removeExpired(at: clock.now)
    } else {
      model.mayHaveSwept(at: clock.now)
    }
  }

  private mutating func trim(_ isFailing: Bool) throws {
    let count = Int.random(in: 0...6, using: &random)
    trail.append("trim to \(count)")
    let outcome = try attempt(isFailing) { try $0.trim(toCount: count) }
    if case .success = outcome, model.isExact, !isFailing {
      model.trim(toCount: count, at: clock.now)
    } else {
      model.mayHaveLost()
    }
  }

  private mutating func removeAll(_ isFailing: Bool) throws {
    trail.append("removeAll")
    if case .success = try attempt(isFailing, { try $0.removeAll() }), !isFailing {
      model.removeAll()
    } else {
      model.mayHaveLost()
    }
  }

  /// Moves the clock, forwards or back.
  private mutating func jump() {
    let seconds = Int64.random(in: -200...200, using: &random)
    trail.append("clock \(seconds)")
    model.mayHaveSwept(at: clock.now)
    clock.now = clock.now.adding(seconds: seconds)
    // All stamps in the future count as now.
    if seconds < 0 { model.loseOrder() }
  }

  private mutating func reopen() throws {
    trail.append("reopen")
    faults.reset()
    try cache.close()
    cache = try Self.open(path, clock, faults)
  }

  private mutating func compareAll() throws {
    trail.append("compare")
    faults.reset()
    for key in Self.keys {
      let bytes = try cache.read(forKey: key, extending: .off)?.value
      try compare(key, bytes, false)
      if bytes != nil { model.use(key) }
    }
    guard model.isExact else { return }
    let now = clock.now
    let count = try cache.entries().count { !$0.isExpired(at: now) }
    let wanted = model.keys(at: now).count
    if count != wanted { throw diverged("\(count) entries, not \(wanted)") }
  }
}
