import Synchronization

/// The engines of this process by the directory they hold, so that all objects on one directory
/// share one, however its path is spelled.
enum EngineRegistry {
  private struct Registration: Sendable {
    // An engine lives as long as an object is attached to it or work of its own is going on.
    weak var engine: DiskEngine?
    var attachedCount: Int

    /// Whether the directory is held now; after a replacement that is another one than at opening.
    func holds(_ identity: FileIdentity) -> Bool {
      engine?.location.handle.identity == identity
    }
  }

  // An array: a process has a handful of directories open, and their identities can change.
  private static let registrations = Mutex<[Registration]>([])

  /// Opens a directory and returns its engine, an existing one if its settings agree.
  ///
  /// Openers wait for each other, also those of different directories: opening is rare, and two
  /// that open one directory at once must not make two engines.
  static func attach(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(CacheError) -> DiskEngine {
    let location = try DirectoryLocation.open(path, configuration)
    let identity = location.handle.identity
    // What only reads shares nothing, and may look at a directory that this process also writes.
    guard !configuration.mode.isReadOnly else { return DiskEngine(location, configuration) }
    return try registrations.withLock { (registrations) throws(CacheError) in
      // A forked child begins with none: the parent's engines have no threads here and their locks
      // are the parent's.
      registrations.removeAll { $0.engine?.isForked ?? true }
      // A directory that was replaced must not get a second engine beside the one at its path.
      for known in registrations where known.engine?.location.path == location.path {
        known.engine?.followReplacement(isUrgent: true)
      }
      if let index = registrations.firstIndex(where: { $0.holds(identity) }),
        let engine = registrations[index].engine
      {
        guard engine.configuration.isCompatible(with: configuration) else {
          throw CacheError(.configurationConflict, operation: "open", path: path)
        }
        registrations[index].attachedCount += 1
        return engine
      }
      let engine = DiskEngine(location, configuration)
      // Before it is registered: an engine without its lock is nobody's.
      try engine.lockDirectory()
      registrations.append(Registration(engine: engine, attachedCount: 1))
      return engine
    }
  }

  /// Detaches one object.
  ///
  /// - Returns: Whether it was the last, so that the engine must end.
  static func detach(_ engine: DiskEngine) -> Bool {
    registrations.withLock { registrations in
      guard let index = registrations.firstIndex(where: { $0.engine === engine }) else {
        return true
      }
      registrations[index].attachedCount -= 1
      guard registrations[index].attachedCount == 0 else { return false }
      registrations.remove(at: index)
      return true
    }
  }
}
