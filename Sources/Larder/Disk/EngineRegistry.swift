import Synchronization

/// The engines of this process by the directory they hold, so that all objects on one directory share
/// one, however its path is spelled.
enum EngineRegistry {
  private struct Registration: Sendable {
    weak var engine: DiskEngine?
    var attachedCount: Int
  }

  private static let registrations = Mutex<[FileIdentity: Registration]>([:])

  /// Opens a directory and returns its engine, an existing one if its settings agree.
  static func attach(
    _ path: String, _ configuration: DiskCache.Configuration
  ) throws(CacheError) -> DiskEngine {
    let location = try DirectoryLocation.open(path, configuration)
    let identity = location.handle.identity
    // What only reads shares nothing, and may look at a directory that this process also writes.
    guard !configuration.mode.isReadOnly else { return DiskEngine(location, configuration) }
    return try registrations.withLock { (registrations) throws(CacheError) in
      if let known = registrations[identity], let engine = known.engine, !engine.isForked,
        known.attachedCount > 0
      {
        guard engine.configuration.isCompatible(with: configuration) else {
          throw CacheError(.configurationConflict, operation: "open", path: path)
        }
        registrations[identity]?.attachedCount += 1
        return engine
      }
      let engine = DiskEngine(location, configuration)
      try engine.lockDirectory()
      registrations[identity] = Registration(
        engine: engine, attachedCount: 1)
      return engine
    }
  }

  /// Detaches one object.
  ///
  /// - Returns: Whether it was the last, so that the engine must end.
  static func detach(_ engine: DiskEngine) -> Bool {
    registrations.withLock { registrations in
      guard let identity = registrations.first(where: { $0.value.engine === engine })?.key else {
        return true
      }
      registrations[identity]?.attachedCount -= 1
      guard registrations[identity]?.attachedCount == 0 else { return false }
      registrations[identity] = nil
      return true
    }
  }
}
