import Foundation
import Testing

@testable import Larder
@testable import LarderBasics
@testable import LarderDigest
@testable import LarderDisk
@testable import LarderSystem

extension DiskCache.Configuration {
  /// The file system that the plan of failures shows for the directory; nil for the real one.
  var fileSystem: FileSystemKind? {
    get { faults?.simulatedFileSystem }
    set { faults?.simulate(newValue) }
  }
}

/// A directory with a cache, a clock that stands still, and a plan of failures.
final class DiskScene: Sendable {
  let directory: TemporaryDirectory
  let clock = ManualClock(Timestamp(seconds: 1_800_000_000))
  let faults = FaultInjector()
  /// The cache's directory.
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/cache"
  }

  /// Opens the cache. By default it has no limit, so that no scan begins by itself, and does not
  /// watch neighbours, so that no watching thread makes calls that a plan of failures counts. A
  /// use extends the expiry, which takes more steps than the default.
  func open(_ change: (inout DiskCache.Configuration) -> Void = { _ in }) throws -> DiskCache {
    var configuration = DiskCache.Configuration(sizeLimit: nil)
    configuration.clock = clock.wallClock
    configuration.faults = faults
    configuration.coherence = .none
    configuration.extending = .lifetime
    // A plan of failures counts the calls of a check.
    configuration.pathCheckPause = .seconds(3_600)
    change(&configuration)
    return try DiskCache(directory: path, configuration: configuration)
  }

  /// The settings of `open(_:)`, for a cache of both tiers.
  var configuration: CacheConfiguration {
    var configuration = CacheConfiguration()
    configuration.disk.sizeLimit = nil
    configuration.disk.clock = clock.wallClock
    configuration.disk.faults = faults
    configuration.disk.coherence = .none
    configuration.disk.extending = .lifetime
    configuration.disk.pathCheckPause = .seconds(3_600)
    return configuration
  }

  /// Opens a cache of both tiers as `open(_:)` opens the disk tier.
  func open<Value: Sendable>(
    _ coder: Coder<Value>, _ change: (inout CacheConfiguration) -> Void = { _ in }
  ) throws -> Cache<Value> {
    var configuration = configuration
    change(&configuration)
    return try Cache(directory: path, coder: coder, configuration: configuration)
  }

  /// Creates the cache's directory without the cache.
  func makeDirectory() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  /// The names in the cache's directory, without the tag.
  var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "CACHEDIR.TAG" }
        .sorted()
    }
  }

  /// Returns the name of a key's file.
  func name(_ key: String) -> FileName { Self.name(of: Array(key.utf8)).fileName }

  static func name(of key: [UInt8]) -> EntryName {
    EntryName(digest: MD5.digest(of: key.span), fileExtension: .none)
  }

  /// Returns the path of a key's file.
  func file(_ key: String) -> String { "\(path)/\(name(key).text)" }

  /// Writes a file without an attribute, as a user would.
  func plant(_ content: [UInt8], named name: String, expiry: Timestamp? = nil) throws {
    try Data(content).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    let expiry = expiry ?? clock.now.adding(seconds: 3600)
    try touch(FileName(text: name), access: clock.now, modification: expiry)
  }

  /// Sets a file's stamps, as `touch` does.
  func touch(_ name: FileName, access: Timestamp?, modification: Timestamp?) throws {
    try directoryHandle().openForReading(name).setTimes(access: access, modification: modification)
  }

  func status(_ name: FileName) throws -> FileStatus { try directoryHandle().status(of: name) }

  /// Returns the value of `user.larder`.
  func attribute(_ name: FileName) throws -> String? {
    var text: String?
    try directoryHandle().openForReading(name).withAttribute(.entry) {
      text = String(decoding: [UInt8](copying: $0), as: UTF8.self)
    }
    return text
  }

  func setAttribute(_ name: FileName, _ text: String) throws {
    try directoryHandle().openForReading(name).setAttribute(.entry, to: Array(text.utf8))
  }

  /// Changes a file's content but not its stamps, as a failing disk does.
  func damage(_ key: String, to content: [UInt8]) throws {
    let status = try status(name(key))
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: file(key)))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(content))
    try file.close()
    try touch(name(key), access: status.lastAccess, modification: status.modification)
  }

  func directoryHandle() throws -> DirectoryHandle {
    try DirectoryHandle.open(path: path, faults: nil)
  }
}

extension FileName {
  init(text: String) {
    self.init()
    append(text)
  }
}

/// Runs a body in as many threads as there are indices, and waits for all.
func inThreads(_ count: Int, _ body: @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count, execute: body)
}

/// Runs a body in a new thread. Returns a function that waits for the result.
func inBackground<Outcome: Sendable>(
  _ body: @escaping @Sendable () throws -> Outcome
) -> () -> Result<Outcome, any Error> {
  let outcome = Handover<Result<Outcome, any Error>>()
  Thread.detachNewThread { outcome.give(Result(catching: body)) }
  return outcome.take
}

private final class Handover<Value: Sendable>: Sendable {
  private let values = ForkSafeMutex<[Value]>([])
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ value: Value) {
    values.withLock { $0.append(value) }
    isThere.signal()
  }

  func take() -> Value {
    isThere.wait(for: "the end of an operation")
    return values.withLock { $0[0] }
  }
}
