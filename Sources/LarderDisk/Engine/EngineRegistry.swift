import LarderBasics
import LarderSystem
import Synchronization

/// The engines of this process, by the directory that each one holds. All objects on one directory
/// share an engine, however its path is spelled.
enum EngineRegistry {
  private struct Registration: Sendable {
    // Weak: an engine lives as long as an object is attached to it or it has work to do.
    weak var engine: DiskEngine?
    var attachedCount: Int

    /// Whether no object of this process can share the engine or must wait for it any more.
    var isOver: Bool {
      guard let engine, !engine.isForked else { return true }
      return engine.withState(\.phase.hasEnded)
    }

    func holds(_ identity: FileIdentity) -> Bool {
      engine?.location.handle.identity == identity
    }
  }

  // An array, because a process has a handful of directories open and their identities can change.
  // Each process has its own, because a forked child shares no engine of its parent, and a fork may
  // find the lock taken: it is held while a directory is locked.
  private static let registrations = PerProcess { ForkSafeMutex<[Registration]>([]) }

  private enum Attachment: Sendable {
    case attached(DiskEngine)
    /// The directory's last object has gone, and its engine still writes what is pending.
    case ending(DiskEngine)
    /// The engine at the path holds another directory. It counts as attached, so that it does not
    /// end while it checks the path.
    case astray(DiskEngine)
  }

  /// Opens a directory and returns its engine. Shares an existing engine if the settings agree.
  ///
  /// Waits for an engine that is just ending, because it holds the directory's lock until its last
  /// uses are on disk.
  static func attach(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(CacheError) -> DiskEngine {
    var location = try DirectoryLocation.open(path, configuration)
    // A read-only engine is not shared. So a directory that this process writes can also be opened
    // for reading only.
    guard !configuration.mode.isReadOnly else { return DiskEngine(location, configuration) }
    var asked: [DiskEngine] = []
    while true {
      let attachment: Attachment
      do throws(CacheError) {
        attachment = try attach(location, path, configuration, asked: asked)
      } catch  where error.code == .locked && !location.isAtPath {
        // Another directory has taken the path since this one was opened.
        location = try DirectoryLocation.open(path, configuration)
        continue
      }
      switch attachment {
      case .attached(let engine): return engine
      case .ending(let engine): engine.wait { $0.phase.hasEnded ? () : nil }
      case .astray(let engine):
        // Outside of the lock, because the engine's observers are told. A cache that loses its last
        // reference by this detaches, which takes the lock.
        engine.followReplacement(isUrgent: true)
        if detach(engine) { engine.shutDownQuietly() }
        asked.append(engine)
      }
    }
  }

  /// - Parameter asked: The engines that have already checked the path.
  private static func attach(
    _ location: DirectoryLocation, _ path: String, _ configuration: DiskCache.Configuration,
    asked: [DiskEngine]
  ) throws(CacheError) -> Attachment {
    try registrations.own.value.withLock { (registrations) throws(CacheError) in
      registrations.removeAll(where: \.isOver)
      let identity = location.handle.identity
      // If the directory was replaced, the engine at its path has to follow it first. Otherwise one
      // path would have two engines.
      let astray = registrations.firstIndex { known in
        known.attachedCount > 0 && known.engine?.location.path == location.path
          && !known.holds(identity) && !asked.contains { $0 === known.engine }
      }
      if let astray, let engine = registrations[astray].engine {
        registrations[astray].attachedCount += 1
        return .astray(engine)
      }
      guard let index = registrations.firstIndex(where: { $0.holds(identity) }),
        let engine = registrations[index].engine
      else {
        let engine = DiskEngine(location, configuration)
        try engine.lockDirectory()
        registrations.append(Registration(engine: engine, attachedCount: 1))
        return .attached(engine)
      }
      if registrations[index].attachedCount == 0 { return .ending(engine) }
      guard engine.configuration.isCompatible(with: configuration) else {
        throw CacheError(.configurationConflict, operation: "open", path: path)
      }
      registrations[index].attachedCount += 1
      return .attached(engine)
    }
  }

  /// Detaches one object. Finds the engine by its identity, because its directory may have changed.
  ///
  /// - Returns: Whether it was the last object, so that the caller must end the engine. Until the
  ///   engine has ended, opening the directory waits.
  static func detach(_ engine: DiskEngine) -> Bool {
    registrations.own.value.withLock { registrations in
      guard let index = registrations.firstIndex(where: { $0.engine === engine }) else {
        return true
      }
      registrations[index].attachedCount -= 1
      return registrations[index].attachedCount == 0
    }
  }
}
