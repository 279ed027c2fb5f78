import Glibc
import Larder

/// A writer that changes a cache in all possible ways, and records each change.
struct CrashWriter: Sendable {
  private let options: CrashOptions
  private let disk: DiskCache
  private let marks: CrashMarks

  /// The keys. They are few, so that most are replaced and removed several times.
  static let keys = (0..<24).map { "k/\($0)" }

  init(_ options: CrashOptions) throws {
    self.options = options
    marks = try CrashMarks(options.marks)
    disk = try CrashBenchmark.open(options)
  }

  /// Runs several threads in each round, and a change of all keys after it.
  func run() throws {
    let rounds = 4
    for round in 0..<rounds {
      BenchmarkThreads.run(options.threads) { [self] thread in
        do {
          try work(round: round, thread: thread)
        } catch {
          print("failed: \(error)")
          exit(1)
        }
      }
      try changeAll("\(options.process).\(round)", round)
    }
    // Every other run ends without closing, like one that is cut.
    if options.seed % 2 == 0 { try disk.close() }
    exit(0)
  }

  /// Runs one thread's part of a round.
  private func work(round: Int, thread: Int) throws {
    let worker = (options.process * 4 + round) * 16 + thread
    var random = SeededRandom(seed: options.seed &* 1_000 &+ UInt64(worker))
    var pending: [String] = []
    for number in 0..<(options.steps / 4 / options.threads) {
      let id = "\(options.process).\(round).\(thread).\(number)"
      let key = Self.keys[Int(random.next() % UInt64(Self.keys.count))]
      let step = Step(id: id, key: key, version: worker * 10_000 + number + 1)
      if try change(step, Int(random.next() % 20)) { pending.append(id) }
      if pending.count > 4 { try flush(&pending) }
    }
    try flush(&pending)
  }

  /// A change of a key.
  private struct Step {
    let id: String
    let key: String
    let version: Int
  }

  /// Waits until accepted values are written, and records them as stored.
  private func flush(_ pending: inout [String]) throws {
    if pending.isEmpty { return }
    try disk.flush()
    for id in pending { marks.end(id, "stored") }
    pending = []
  }

  /// Makes one of the changes.
  ///
  /// - Returns: Whether the value still waits to be written.
  private func change(_ step: Step, _ dice: Int) throws -> Bool {
    switch dice {
    case 0..<3:
      marks.begin(step.id, "remove", step.key, 0)
      try disk.remove(forKey: step.key)
      marks.end(step.id, "removed")
      return false
    case 3..<5: return try reject(step, asExpired: dice == 3)
    case 5: return try storeBriefly(step)
    default: return try store(step, dice)
    }
  }

  /// Stores a value that is declined or has expired, so that the older value is removed.
  private func reject(_ step: Step, asExpired: Bool) throws -> Bool {
    marks.begin(step.id, "remove", step.key, 0)
    let byteCount = asExpired ? 1 : CrashValue.declinedByteCount
    let bytes = [UInt8](repeating: 1, count: byteCount)
    let outcome = try disk.store(
      bytes, forKey: step.key, expiration: asExpired ? .expired : .never)
    guard case .rejected = outcome else { throw UsageError() }
    marks.end(step.id, "removed")
    return false
  }

  /// Stores a value that will have expired when the judge reads it.
  private func storeBriefly(_ step: Step) throws -> Bool {
    let value = CrashValue(key: step.key, version: step.version, isPlain: options.isPlain)
    marks.begin(step.id, "remove", step.key, 0)
    let outcome = try disk.store(value.bytes, forKey: step.key, expiration: .seconds(1))
    if outcome == .pending { try disk.flush() }
    marks.end(step.id, "removed")
    return false
  }

  private func store(_ step: Step, _ dice: Int) throws -> Bool {
    let value = CrashValue(key: step.key, version: step.version, isPlain: options.isPlain)
    let expiration = dice % 2 == 0 ? Expiration.never : .days(1)
    marks.begin(step.id, "store", step.key, step.version)
    let outcome: StoreOutcome
    switch dice {
    case 6, 7:
      outcome = try disk.store(
        forKey: step.key, expiration: expiration, extendedData: value.extendedData
      ) { stream in
        for start in stride(from: 0, to: value.bytes.count, by: 3_000) {
          try stream.write(Array(value.bytes[start..<min(start + 3_000, value.bytes.count)]))
        }
      }
    case 8 where value.extendedData.isEmpty:
      outcome = try storeFile(step, value)
    case 9, 10:
      outcome = try disk.storeIfAbsent(
        value.bytes, forKey: step.key, expiration: expiration, extendedData: value.extendedData)
    default:
      outcome = try disk.store(
        value.bytes, forKey: step.key, expiration: expiration, extendedData: value.extendedData)
    }
    switch outcome {
    case .pending: return true
    case .stored: marks.end(step.id, "stored")
    case .rejected: marks.end(step.id, "present")
    }
    return false
  }

  private func storeFile(_ step: Step, _ value: CrashValue) throws -> StoreOutcome {
    let path = "/dev/shm/larder-crash-\(getpid())-\(step.id)"
    let raw = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard raw >= 0, CrashMarks.write(value.bytes, to: raw) else { throw UsageError() }
    close(raw)
    defer { _ = unsafe unlink(path) }
    return try disk.store(contentsOfFile: path, forKey: step.key)
  }

  /// Makes a change of all keys: in turns a sweep, a trim, and a removal of all.
  private func changeAll(_ id: String, _ round: Int) throws {
    switch round {
    case 0: try disk.removeExpired()
    case 1:
      marks.begin(id, "trim", "*", 0)
      try disk.trim(toCount: 12)
      marks.end(id, "trimmed")
      // With another process, a key may be absent because of a removal that is not synced yet.
      if options.isShared { return }
      for key in Self.keys where try !disk.contains(key) { marks.gone(id, key) }
    case 2:
      marks.begin(id, "clear", "*", 0)
      try disk.removeAll()
      marks.end(id, "removed")
    default: try disk.flush()
    }
  }
}
