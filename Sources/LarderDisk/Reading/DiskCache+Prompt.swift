package import LarderBasics
import LarderSystem
import Synchronization

/// Reads on the thread of an asynchronous caller, which never wait for the device. One that finds
/// anything out of the ordinary leaves no trace, and one of the cache's threads reads instead.
///
/// 1. The directory's file system can be asked without waiting, and its path need not be checked
///    now. Nothing waits to be written behind, is removed as a whole, or is to be told to memory.
/// 2. The name is opened if the kernel knows it. One that is free, and that the index does not
///    have, is a miss.
/// 3. The file is not long, has not expired, and is read if all of it is in memory.
/// 4. This process has verified this state of the file for this key: a hit.
///
/// What may make the caller wait all the same: Architecture.md, "Asynchronous reads".
extension DiskCache {
  /// The most bytes that are read on the caller's thread.
  private static let promptByteCount: UInt64 = 64 << 10

  /// Reads a value if that need not wait for the device.
  ///
  /// - Returns: Nil if one of the cache's threads has to look; nil inside if there is no value.
  /// - Throws: `.cancelled` in a cancelled task.
  package func promptValue(
    _ subject: Subject, extending: ExpirationExtending? = nil
  ) async throws(CacheError) -> FoundValue?? {
    try await preparePrompt("value")
    let generation = engine.generations.snapshot(of: subject.name)
    let handle = engine.location.handle
    guard mayBePrompt(handle), engine.configuration.recencyGranularity > .zero else {
      return switched()
    }
    if engine.missesByIndex(subject.name, generation) { return missed() }
    let context = ReadContext(
      generation: generation, extending: extending ?? configuration.extending, now: engine.now,
      staleness: .zero)
    do throws(Errno) {
      let file = try handle.openPromptly(subject.name.fileName)
      let found = read(file, in: handle, subject, context)
      if found == nil || !engine.generations.isCurrent(generation) {
        file.closeAside(on: engine.threads)
      }
      if let found { return found }
    } catch .noSuchFile {
      if !mayHaveNewer(subject, generation),
        engine.missesKnownAbsent(subject.name, generation, hasLooked: true)
      {
        return missed()
      }
    } catch {
      // As where one of the cache's threads has to look.
    }
    return switched()
  }

  /// Reads a file and counts the hit, if it is verified and all of it is in memory.
  private func read(
    _ file: borrowing FileDescriptor, in handle: DirectoryHandle, _ subject: Subject,
    _ context: ReadContext
  ) -> FoundValue? {
    do throws(Errno) {
      let status = try file.status()
      guard status.byteCount <= Self.promptByteCount,
        engine.reader.trust.missReason(for: status, pending: nil, now: context.now) == nil
      else { return nil }
      let bytes = try file.readPromptly(Int(status.byteCount), in: handle)
      // What was written to in place meanwhile is checked anew.
      let isSame = try file.status().change == status.change
      guard isSame, bytes.count == Int(status.byteCount),
        !mayHaveNewer(subject, context.generation)
      else { return nil }
      let known = engine.countIfVerified(subject, status, context, mayCount: true)
      guard let expiry = known.countedExpiry, let check = known.check else { return nil }
      engine.promptReads.wrappingAdd(1, ordering: .relaxed)
      return FoundValue(
        descriptor: nil, byteCount: bytes.count, lastAccess: status.lastAccess, bytes: bytes,
        extendedData: [], expiry: expiry, lifetime: check.lifetime, generation: context.generation)
    } catch {
      return nil
    }
  }

  /// Whether a read would find a value, if that shows without waiting for the device; else nil.
  package func promptContains(_ subject: Subject) async throws(CacheError) -> Bool? {
    try await preparePrompt("contains")
    let handle = engine.location.handle
    let context = ReadContext(
      generation: engine.generations.snapshot(of: subject.name), extending: .off, now: engine.now,
      staleness: .zero)
    guard mayBePrompt(handle) else { return nil }
    do throws(Errno) {
      let file = try handle.openPromptly(subject.name.fileName, forStatusOnly: true)
      let isThere = try isVerified(file, subject, context)
      if !isThere || !engine.generations.isCurrent(context.generation) {
        file.closeAside(on: engine.threads)
      }
      return isThere && !mayHaveNewer(subject, context.generation) ? true : nil
    } catch {
      return nil
    }
  }

  /// Whether a file is known to be good and has not expired.
  private func isVerified(
    _ file: borrowing FileDescriptor, _ subject: Subject, _ context: ReadContext
  ) throws(Errno) -> Bool {
    let status = try file.status()
    let known = engine.countIfVerified(subject, status, context, mayCount: false)
    let reason = engine.reader.trust.missReason(
      for: status, pending: known.pendingExpiry, now: context.now)
    return known.check != nil && reason == nil
  }

  private func mayHaveNewer(_ subject: Subject, _ generation: EntryGenerations.Snapshot?) -> Bool {
    behind?.mayHaveNewer(subject.name, since: generation, false) == true
  }

  /// Throws if this object is closed or the task cancelled, and lets other tasks run after each 512
  /// answers, which take some 2 ms. To give way wakes a thread, which takes as long as 30 reads.
  private func preparePrompt(_ operation: String) async throws(CacheError) {
    try checkUsable(operation)
    if Task.isCancelled { throw CacheError(.cancelled, operation: operation) }
    let turn = engine.promptTurns.wrappingAdd(1, ordering: .relaxed).oldValue
    if turn & 511 == 511 { await Task.yield() }
  }

  private func mayBePrompt(_ handle: DirectoryHandle) -> Bool {
    handle.isPrompt && !engine.location.mustCheck && !engine.finds { _ in true }
      && behind?.mayHoldValues != true
  }

  private func missed() -> FoundValue?? {
    engine.promptReads.wrappingAdd(1, ordering: .relaxed)
    return .some(nil)
  }

  private func switched() -> FoundValue?? {
    engine.switchedReads.wrappingAdd(1, ordering: .relaxed)
    return .none
  }
}
