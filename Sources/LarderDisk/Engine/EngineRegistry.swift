import LarderBasics
import LarderSystem
import Synchronization

/// What the objects of this process on one directory share: the engine, and the layer above it
/// where values are written behind.
struct SharedTier: Sendable {
  let engine: DiskEngine
  let behind: WriteBehind?

  /// Waits until everything accepted so far has reached the disk.
  ///
  /// - Throws: `CacheError`, also the first failure to write a value behind.
  func flush() throws(CacheError) {
    behind?.writeAll()
    try engine.flush()
    try behind?.throwLoss()
  }

  /// Ends the engine when its last object is closed. What waits is written first, while limits are
  /// still enforced for it.
  func shutDown() throws(CacheError) {
    behind?.end()
    try engine.shutDown()
    try behind?.throwLoss()
  }

  /// Ends the engine when no caller is left to catch a failure. Counts the failure instead.
  func shutDownQuietly() {
    do throws(CacheError) {
      try shutDown()
    } catch {
      engine.noteUpkeepFailure(error.errno ?? .ioError)
    }
  }
}

/// The engines of this process, by the directory that each one holds. All objects on one directory
/// share an engine, however its path is spelled.
///
/// A thread that holds the lock makes no system call and releases no engine. So a disk that hangs
/// holds up only those that open or close a cache on it.
enum EngineRegistry {
  private struct Registration: Sendable {
    let location: DirectoryLocation
    /// Nil while a thread makes the engine and locks the directory. Other openers of it wait.
    /// Registered until it has ended.
    var tier: SharedTier?
    var attachedCount = 1
    var engine: DiskEngine? { tier?.engine }

    /// Whether an opener may share the engine. Not if its directory was moved to the opener's path.
    func holds(_ location: DirectoryLocation, asked: [DiskEngine]) -> Bool {
      guard self.location.handle.identity == location.handle.identity else { return false }
      return self.location.path == location.path
        || !(engine?.isAstray == true && asked.contains { $0 === engine })
    }

    /// Whether the engine has to check its path first, because it holds another directory at the
    /// path that is opened, or this one at another path. Else one path would have two engines.
    func mustLook(for location: DirectoryLocation, asked: [DiskEngine]) -> Bool {
      guard attachedCount > 0, !asked.contains(where: { $0 === engine }) else { return false }
      return (self.location.path == location.path)
        != (self.location.handle.identity == location.handle.identity)
    }
  }

  // An array, because a process has a handful of directories open and their identities can change.
  // Each process has its own, because a forked child shares no engine of its parent.
  private static let registrations = PerProcess { ForkSafeMutex<[Registration]>([]) }
  /// The event that a thread has locked a directory or failed to, or an engine has given one up.
  static let changed = PerProcess { EventCount() }

  private enum Attachment: Sendable {
    case attached(SharedTier)
    /// The directory is registered, and the caller makes the engine and locks the directory.
    case opening
    /// The engine at the path holds another directory. It counts as attached, so that it does not
    /// end while it checks the path.
    case astray(SharedTier)
  }

  /// Opens a directory and returns its engine. Shares an existing engine if the settings agree, and
  /// waits for one that is just ending, because it holds the directory's lock until then.
  static func attach(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(CacheError) -> SharedTier {
    var location = try DirectoryLocation(path, configuration)
    // Not shared, so that a directory which this process writes can also be opened for reading.
    guard !configuration.mode.isReadOnly else {
      return SharedTier(engine: DiskEngine(location, configuration), behind: nil)
    }
    var asked: [DiskEngine] = []
    while true {
      let attachment = try changed.own.value.wait { () throws(CacheError) in
        var ending: DiskEngine?
        defer { if let ending, ending.waiting.hasLeftJobs { ending.waiting.runReady() } }
        return try attach(location, path, configuration, asked: asked, &ending)
      }
      switch attachment {
      case .attached(let tier): return tier
      case .opening:
        do throws(CacheError) {
          let engine = DiskEngine(location, configuration)
          try engine.lockDirectory()
          let behind = configuration.writeBehindLimit.map { WriteBehind(engine, limit: $0) }
          let tier = SharedTier(engine: engine, behind: behind)
          endOpening(location, tier)
          return tier
        } catch {
          remove(location)
          guard error.code == .locked, !location.isAtPath else { throw error }
        }
      case .astray(let tier):
        // Outside of the lock, because observers are told, and a cache that this ends detaches.
        tier.engine.followReplacement(isUrgent: true)
        tier.engine.lookForDirectory()
        if detach(tier.engine) { tier.shutDownQuietly() }
        asked.append(tier.engine)
      }
      // Another directory has taken the path since this one was opened, and an engine may hold it.
      if !location.isAtPath { (location, asked) = (try DirectoryLocation(path, configuration), []) }
    }
  }

  /// - Parameter asked: The engines that have already checked the path.
  /// - Returns: Nil if another thread is locking the directory, or its last object has gone and its
  ///   engine is `ending`, which may have found no thread.
  private static func attach(
    _ location: DirectoryLocation, _ path: String, _ configuration: DiskCache.Configuration,
    asked: [DiskEngine], _ ending: inout DiskEngine?
  ) throws(CacheError) -> Attachment? {
    try registrations.own.value.withLock { (registrations) throws(CacheError) in
      let astray = registrations.firstIndex { $0.mustLook(for: location, asked: asked) }
      let index = astray ?? registrations.firstIndex { $0.holds(location, asked: asked) }
      guard let index else {
        registrations.append(Registration(location: location))
        return .opening
      }
      guard let tier = registrations[index].tier, registrations[index].attachedCount > 0 else {
        ending = registrations[index].engine
        return nil
      }
      if astray != nil {
        registrations[index].attachedCount += 1
        return .astray(tier)
      }
      if let names = tier.engine.configuration.conflict(with: configuration) {
        throw CacheError(.configurationConflict, operation: "open", path: path, underlying: names)
      }
      registrations[index].attachedCount += 1
      return .attached(tier)
    }
  }

  /// Lets the other openers of a directory go on, which share its engine.
  private static func endOpening(_ location: DirectoryLocation, _ tier: SharedTier) {
    registrations.own.value.withLock { registrations in
      for index in registrations.indices where registrations[index].location === location {
        registrations[index].tier = tier
      }
    }
    changed.own.value.signal()
  }

  /// Detaches one object. Finds the engine by its identity, because its directory may have changed.
  ///
  /// - Returns: Whether the caller must end the engine. Openers of the directory wait for the end.
  static func detach(_ engine: DiskEngine) -> Bool {
    registrations.own.value.withLock { registrations in
      guard let index = registrations.firstIndex(where: { $0.engine === engine }) else {
        return true
      }
      registrations[index].attachedCount -= 1
      return registrations[index].attachedCount == 0
    }
  }

  /// Forgets a directory that could not be locked, or was given up. The next opener locks it.
  static func remove(_ location: DirectoryLocation) {
    registrations.own.value.withLock { $0.removeAll { $0.location === location } }
    changed.own.value.signal()
  }
}
