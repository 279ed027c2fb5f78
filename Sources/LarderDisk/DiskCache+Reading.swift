public import LarderBasics
package import LarderSystem

extension DiskCache {
  /// Returns the value stored under a key; nil if there is none that is valid.
  ///
  /// Counts as a use: the entry moves to the end of the order of eviction and its expiry is
  /// extended, as configured unless `extending` says otherwise.
  ///
  /// - Throws: `CacheError`: `.resourcesExhausted`, `.closed`, `.forked`, `.permissionDenied` for
  ///   the whole directory. Anything else is a miss with a counted reason.
  /// - Complexity: O(bytes).
  public func value(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil
  ) throws(CacheError) -> [UInt8]? {
    try checkUsable("value")
    return try read(subject(key), for: .value, extending: extending)?.bytes
  }

  /// Returns a key with its entry's name: the MD5 of the key, and this cache's file extension.
  ///
  /// The digest is computed here, in the caller's thread and outside of every lock.
  package func subject(_ key: some CacheKeyConvertible) -> Subject {
    let key = key.cacheKey
    return Subject(key: key, name: EntryName(key, fileExtension: fileExtension))
  }

  /// Finds, checks and reads a value and counts the use. Counts an error that it throws.
  package func read(
    _ subject: Subject, for purpose: ReadPurpose, extending: ExpirationExtending? = nil,
    staleness: Duration = .zero
  ) throws(CacheError) -> FoundValue? {
    // A value past its expiry is served but not extended.
    let extending = staleness > .zero ? .off : extending ?? configuration.extending
    do throws(CacheError) {
      while true {
        // A change of the name from here on moves the generation: nothing keeps what is read here.
        let generation = engine.generations.snapshot(of: subject.name)
        var isHidden = false
        // A value that waits to be written answers before the file, which is older.
        if let behind, behind.mayHoldValues {
          let context = ReadContext(
            generation: generation, extending: extending, now: engine.now, staleness: staleness)
          let answer = try behind.answer(subject, for: purpose, context, &isHidden)
          if let answer { return answer }
        }
        guard let opening = try engine.open(subject, generation) else { return nil }
        if behind?.mayHaveNewer(subject.name, since: generation, isHidden) == true { continue }
        return try engine.answer(
          opening, subject, for: purpose, generation, extending: extending, staleness: staleness)
      }
    } catch {
      throw engine.counted(error)
    }
  }

  /// Returns the value stored under a key with its extended data, expiry and last access, all read
  /// from one open file. Counts as a use.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - extending: The extension of the expiry by the read; the configured one if nil. A read that
  ///     allows expired values extends nothing.
  ///   - allowingExpired: Whether an expired value is returned too, for as long as its file is
  ///     there: at least for the configured `expiredGrace`, unless a limit needs its room. The
  ///     default is false.
  /// - Throws: `CacheError`, as `value(forKey:extending:)` does.
  /// - Complexity: O(bytes).
  public func read(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    allowingExpired: Bool = false
  ) throws(CacheError) -> CachedValue<[UInt8]>? {
    try checkUsable("read")
    let found = try read(
      subject(key), for: .valueAndData, extending: extending,
      staleness: allowingExpired ? ReadContext.anyStaleness : .zero)
    guard let found else { return nil }
    return CachedValue(
      value: found.bytes, extendedData: found.extendedData, expiry: found.expiry,
      lastAccess: found.lastAccess,
      hasExpired: allowingExpired && hasExpired(found.expiry))
  }

  /// Lends the open file of a value, readable also if it is replaced or removed. Counts as a use.
  ///
  /// The content is checked before the closure runs, the first time that this process reads the
  /// file. It is not held in memory.
  ///
  /// - Returns: The closure's result; nil, without calling it, on a miss.
  /// - Throws: The closure's error, or `CacheError` as `value(forKey:extending:)` does.
  /// - Complexity: O(bytes) the first time that this process reads the file, else O(1).
  public func withFile<Result: ~Copyable>(
    forKey key: some CacheKeyConvertible, extending: ExpirationExtending? = nil,
    _ body: (borrowing EntryFile) throws -> Result
  ) throws -> Result? {
    guard let file = try file(forKey: key, extending) else { return nil }
    return try body(file)
  }

  func file(
    forKey key: some CacheKeyConvertible, _ extending: ExpirationExtending?
  ) throws(CacheError) -> EntryFile? {
    try checkUsable("withFile")
    guard let found = try read(subject(key), for: .file, extending: extending) else { return nil }
    let (byteCount, data) = (found.byteCount, found.extendedData)
    guard let file = found.takeDescriptor() else { return nil }
    return EntryFile(file: file, byteCount: byteCount, extendedData: data)
  }

  /// Whether a read would find a value, as far as status and attributes show. Counts no use.
  ///
  /// - Throws: `CacheError`, as `value(forKey:extending:)` does.
  /// - Complexity: O(1): reads status and attributes, not the content.
  public func contains(_ key: some CacheKeyConvertible) throws(CacheError) -> Bool {
    try checkUsable("contains")
    return try entry(of: subject(key), staleness: .zero) != nil
  }
}

// What `Cache` asks.
extension DiskCache {
  /// Whether an expiry counts as past now.
  package func hasExpired(_ expiry: Timestamp) -> Bool {
    engine.reader.trust.hasExpired(expiry, at: engine.timeToJudge(expiry, at: engine.now))
  }

  /// Whether a value in memory may be served now. False only if this object is strict and cannot
  /// learn what other processes have done.
  ///
  /// - Complexity: One comparison; for a strict object one system call if nothing has happened.
  @inlinable
  package func mayAnswerFromMemory() -> Bool { !isStrict || isMemoryCurrent() }

  /// Counts a hit in memory as a use of the entry on disk, of whose file a stamp is due only when
  /// memory asks the disk again.
  @usableFromInline
  package func countMemoryHit(_ key: CacheKey) {
    engine.issueAccess(of: subject(key).name, isUse: true, at: engine.now)
  }

  /// Takes in every change by other processes until now, and returns whether that was possible.
  @usableFromInline
  func isMemoryCurrent() -> Bool { engine.catchUp() }
}

/// The open file of an entry's value.
public struct EntryFile: ~Copyable, Sendable {
  fileprivate let file: FileDescriptor
  /// The bytes of the value.
  public let byteCount: Int
  /// The caller's own data beside the value, empty when there is none.
  public let extendedData: [UInt8]

  /// Throws `.resourcesExhausted` if the value is too long for the memory.
  ///
  /// A sparse file can have any length, and asking for that much memory would end the process.
  package func checkFitsInMemory() throws(CacheError) {
    guard SystemEnvironment.mayHold(UInt64(byteCount)) else {
      throw CacheError(errno: .noMemory, operation: "read")
    }
  }

  /// Reads bytes at an offset.
  func read(from start: Int, _ count: Int) throws(CacheError) -> [UInt8] {
    let bytes = try attempt("read", at: nil, file.read(upTo: count, at: start))
    try checkWhole(bytes.count == count)
    return bytes
  }

  /// Throws EIO, for lack of a better number, if the file is shorter than when it was opened.
  private func checkWhole(_ isWhole: Bool) throws(CacheError) {
    if !isWhole { throw CacheError(errno: .ioError, operation: "read") }
  }

  /// The descriptor's number. Open for reading until the closure that was lent the file returns.
  public var descriptor: Int32 { file.rawValue }

  /// Reads on until a span is full.
  ///
  /// - Throws: `CacheError` with `.io` if the file ends earlier, because another process has cut it
  ///   short.
  /// - Complexity: O(bytes).
  public func read(into span: inout MutableRawSpan) throws(CacheError) {
    try checkWhole(try attempt("read", at: nil, file.read(into: &span)) == span.byteCount)
  }

  /// Reads on into all of an array, and returns the number of bytes read; 0 at the end.
  ///
  /// - Throws: `CacheError`: `.io` and other errors of reading.
  /// - Complexity: O(bytes).
  public func read(into bytes: inout [UInt8]) throws(CacheError) -> Int {
    try attempt("read", at: nil, file.read(into: &bytes))
  }
}
