import LarderBasics
import LarderSystem
import Synchronization

/// The engines of this process by the directory they hold, so that all objects on one directory
/// share one, however its path is spelled.
enum EngineRegistry {
  private struct Registration: Sendable {
    // An engine lives as long as an object is attached to it or work of its own is going on.
    weak var engine: DiskEngine?
    var attachedCount: Int

    /// Whether nobody in this process can share the engine or must wait for it any more.
    var isOver: Bool {
      guard let engine, !engine.isForked else { return true }
      return engine.withState(\.phase.hasEnded)
    }

    func holds(_ identity: FileIdentity) -> Bool {
      engine?.location.handle.identity == identity
    }
  }

  // An array: a process has a handful of directories open, and their identities can change. The
  // lock is held while a directory is locked, so that a fork may well find it taken; and a forked
  // child shares no engine of its parent's.
  private static let registrations = PerProcess { ForkSafeMutex<[Registration]>([]) }

  private enum Attachment: Sendable {
    case attached(DiskEngine)
    /// The directory's last object has gone, and its engine still writes what is pending.
    case ending(DiskEngine)
    /// The engine at the path holds another directory. It counts as attached, so that it does not
    /// end while it looks at what the path leads to.
    case astray(DiskEngine)
  }

  /// Opens a directory and returns its engine, an existing one if its settings agree.
  ///
  /// One that is just ending is waited for: it holds the lock until its last uses are on disk.
  static func attach(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(CacheError) -> DiskEngine {
    let location = try DirectoryLocation.open(path, configuration)
    // What only reads shares nothing, and may look at a directory that this process also writes.
    guard !configuration.mode.isReadOnly else { return DiskEngine(location, configuration) }
    var asked: [DiskEngine] = []
    while true {
      switch try attach(location, path, configuration, asked: asked) {
      case .attached(let engine): return engine
      case .ending(let engine): engine.wait { $0.phase.hasEnded ? () : nil }
      case .astray(let engine):
        // Outside of the lock: its observers are told, and a cache of which the last reference goes
        // then detaches.
        engine.followReplacement(isUrgent: true)
        if detach(engine) { engine.shutDownQuietly() }
        asked.append(engine)
      }
    }
  }

  /// - Parameter asked: The engines that have looked at what the path leads to.
  private static func attach(
    _ location: DirectoryLocation, _ path: String, _ configuration: DiskCache.Configuration,
    asked: [DiskEngine]
  ) throws(CacheError) -> Attachment {
    try registrations.own.value.withLock { (registrations) throws(CacheError) in
      registrations.removeAll(where: \.isOver)
      let identity = location.handle.identity
      // A directory that was replaced must not get a second engine beside the one at its path.
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

  /// Detaches one object. The engine is found by itself and not by its directory, which may be
  /// another by now.
  ///
  /// - Returns: Whether it was the last, so that the engine must end. Until it has, who opens the
  ///   directory waits.
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
