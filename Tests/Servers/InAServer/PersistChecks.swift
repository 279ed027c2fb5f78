import Hummingbird
import Larder

private struct Session: Codable, Sendable, Equatable {
  var user: String
  var visits: Int
}

/// Drives the driver through each promise of the comments of `PersistDriver`, by a clock that
/// stands still.
func checkPersistDriver(_ checks: Checks, in directory: String) async throws {
  let clock = ManualClock(.now)
  var configuration = DiskCache.Configuration()
  configuration.clock = clock.wallClock
  let driver = DiskPersistDriver(
    disk: try DiskCache(directory: directory, configuration: configuration))
  let session = Session(user: "anna", visits: 1)

  try await driver.create(key: "new", value: session, expires: nil)
  checks.expect(
    "what was created is there", try await driver.get(key: "new", as: Session.self) == session)
  await checks.expect("a second create is a duplicate", throws: PersistError.duplicate) {
    try await driver.create(key: "new", value: Session(user: "bert", visits: 2), expires: nil)
  }
  checks.expect(
    "a refused create changes nothing",
    try await driver.get(key: "new", as: Session.self) == session)

  try await checkConcurrentCreates(checks, driver)

  try await driver.set(key: "new", value: Session(user: "anna", visits: 2), expires: nil)
  checks.expect(
    "a set replaces", try await driver.get(key: "new", as: Session.self)?.visits == 2)
  checks.expect(
    "a key that was never set has no value", try await driver.get(key: "no", as: Int.self) == nil)
  try await checkExpiry(checks, driver, clock)
  try await checkConversions(checks, driver)

  try await driver.remove(key: "new")
  checks.expect(
    "what was removed is gone", try await driver.get(key: "new", as: Session.self) == nil)
  try await driver.remove(key: "new")
  try await driver.create(key: "new", value: session, expires: nil)

  try await checkShutdown(checks, driver, in: directory)
}

private func checkConcurrentCreates(_ checks: Checks, _ driver: DiskPersistDriver) async throws {
  for round in 0..<50 {
    let created: [Int?] = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<8 {
        group.addTask {
          do {
            try await driver.create(key: "race/\(round)", value: number, expires: .seconds(60))
            return number
          } catch { return nil }
        }
      }
      return await group.reduce(into: []) { if let number = $1 { $0.append(number) } }
    }
    let value = try await driver.get(key: "race/\(round)", as: Int.self)
    checks.expect("of creates at once one succeeds", created == [value], created)
  }
}

private func checkExpiry(
  _ checks: Checks, _ driver: DiskPersistDriver, _ clock: ManualClock
) async throws {
  try await driver.set(key: "short", value: 1, expires: .milliseconds(1_500))
  try await driver.set(key: "long", value: 1, expires: .seconds(60))
  let short = try await driver.getWithTTL(key: "short", as: Int.self)
  checks.expect(
    "the time to live is exact", short?.ttl == .milliseconds(1_500), short?.ttl as Any)
  clock.advance(by: .seconds(1))
  checks.expect(
    "a value is there until it expires", try await driver.get(key: "short", as: Int.self) == 1)
  clock.advance(by: .milliseconds(500))
  checks.expect(
    "a value is gone when it expires", try await driver.get(key: "short", as: Int.self) == nil)
  try await driver.create(key: "short", value: 2, expires: .seconds(5))
  checks.expect(
    "what has expired can be created anew",
    try await driver.get(key: "short", as: Int.self) == 2)

  try await driver.set(key: "long", value: 2, expires: nil)
  let kept = try await driver.getWithTTL(key: "long", as: Int.self)
  checks.expect("a set without an expiry replaces the value", kept?.object == 2)
  checks.expect(
    "a set without an expiry keeps the one that was", kept?.ttl == .milliseconds(58_500),
    kept?.ttl as Any)
  clock.advance(by: .milliseconds(58_500))
  checks.expect(
    "reading does not extend", try await driver.get(key: "long", as: Int.self) == nil)
  try await driver.set(key: "long", value: 3, expires: nil)
  let anew = try await driver.getWithTTL(key: "long", as: Int.self)
  checks.expect(
    "a set without an expiry of what has expired stays",
    anew?.object == 3 && anew?.ttl == nil)
  try await driver.set(key: "long", value: 4, expires: .seconds(10))
  checks.expect(
    "a set with an expiry replaces none",
    try await driver.getWithTTL(key: "long", as: Int.self)?.ttl == .seconds(10))
  try await driver.set(key: "long", value: 5, expires: .seconds(3))
  checks.expect(
    "a set with an expiry replaces a later one",
    try await driver.getWithTTL(key: "long", as: Int.self)?.ttl == .seconds(3))
  try await driver.set(key: "ever", value: 1, expires: nil)
  clock.advance(by: .seconds(3_650 * 86_400))
  checks.expect(
    "a value without an expiry stays", try await driver.get(key: "ever", as: Int.self) == 1)
}

private func checkConversions(_ checks: Checks, _ driver: DiskPersistDriver) async throws {
  try await driver.set(key: "text", value: "hello", expires: nil)
  await checks.expect(
    "a value of another type is an invalid conversion", throws: PersistError.invalidConversion
  ) { _ = try await driver.get(key: "text", as: Session.self) }
  await checks.expect(
    "it is with its time to live too", throws: PersistError.invalidConversion
  ) { _ = try await driver.getWithTTL(key: "text", as: Int.self) }
  checks.expect(
    "a wrong conversion changes nothing",
    try await driver.get(key: "text", as: String.self) == "hello")
  try await driver.set(key: "", value: [String: Int](), expires: nil)
  checks.expect(
    "an empty key is a key", try await driver.get(key: "", as: [String: Int].self) == [:])
  let key = String(repeating: "/../ü", count: 1_000)
  try await driver.set(key: key, value: true, expires: nil)
  checks.expect("any text is a key", try await driver.get(key: key, as: Bool.self) == true)
}

private func checkShutdown(
  _ checks: Checks, _ driver: DiskPersistDriver, in directory: String
) async throws {
  // A group that is cancelled runs the end of its services in cancelled tasks.
  let closing = Task {
    withUnsafeCurrentTask { $0?.cancel() }
    try await driver.shutdown()
  }
  try await closing.value
  do {
    _ = try await driver.get(key: "new", as: Session.self)
    checks.expect("a shut-down driver answers nothing", false)
  } catch let error as CacheError {
    checks.expect("a shut-down driver answers nothing", error.code == .closed, error)
  }
  let next = DiskPersistDriver(disk: try DiskCache(directory: directory))
  checks.expect(
    "the next driver finds what was stored",
    try await next.get(key: "text", as: String.self) == "hello")
  try await next.shutdown()
}
