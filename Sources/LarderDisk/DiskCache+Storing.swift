public import LarderBasics
import LarderSystem

extension DiskCache {
  /// Stores a value and replaces an older one.
  ///
  /// A reader in any thread or process sees the old value, the new one, or none; never a part. If
  /// the store is rejected or fails, the old value is removed if possible. If it cannot be removed,
  /// or the store was refused before it began, the error says `oldValueRemains`.
  ///
  /// - Parameters:
  ///   - value: The bytes of the value.
  ///   - key: The key of the value.
  ///   - expiration: The time for which the value is valid; the configured one if nil.
  ///   - extendedData: Up to 1,024 bytes kept beside the value, such as an ETag.
  /// - Throws: `CacheError`: `.noSpace` when an eviction did not help, `.readOnly`,
  ///   `.extendedDataUnsupported`, `.invalidArgument` for more extended data, `.nameOccupied`,
  ///   `.permissionDenied`, `.closed`, `.forked`, `.io`.
  /// - Complexity: O(bytes).
  @discardableResult
  public func store(
    _ value: Span<UInt8>, forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) throws(CacheError) -> StoreOutcome {
    try checkStorable()
    let request = request(key, expiration, extendedData)
    return try engine.countingErrors { () throws(CacheError) in try store(value, request) }
  }

  /// Stores a value and replaces an older one.
  ///
  /// - Throws: `CacheError`, as the store of a span does.
  /// - Complexity: O(bytes).
  @discardableResult
  public func store(
    _ value: [UInt8], forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) throws(CacheError) -> StoreOutcome {
    try store(value.span, forKey: key, expiration: expiration, extendedData: extendedData)
  }

  /// Stores a value unless there is one. If there is, the store is rejected with `.alreadyPresent`.
  ///
  /// If several processes try at once, one of them stores. A file that cannot be read as a value,
  /// such as an expired or a damaged one, is replaced.
  ///
  /// - Throws: `CacheError`, as `store(_:forKey:expiration:extendedData:)` does. A failure removes
  ///   nothing and says `oldValueRemains`.
  /// - Complexity: O(bytes), including those of a present value that was not checked yet.
  @discardableResult
  public func storeIfAbsent(
    _ value: [UInt8], forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = []
  ) throws(CacheError) -> StoreOutcome {
    try checkStorable()
    let request = request(key, expiration, extendedData, isExclusive: true)
    return try engine.countingErrors { () throws(CacheError) in try store(value.span, request) }
  }

  /// Stores a value that a closure writes in pieces, none of which is kept in memory.
  ///
  /// The value becomes visible when the closure returns. It never does if the closure throws; this
  /// then throws `.callerFailed`, or the closure's own `CacheError`.
  ///
  /// - Complexity: O(bytes), in the memory of a piece.
  @discardableResult
  public func store(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    extendedData: [UInt8] = [], _ body: (inout EntryStream) throws -> Void
  ) throws(CacheError) -> StoreOutcome {
    try checkStorable()
    let request = request(key, expiration, extendedData)
    return try engine.countingErrors { () throws(CacheError) in try engine.store(request, body) }
  }

  /// Stores the content of a file, which stays where it is.
  ///
  /// If the file system can, the entry shares the file's blocks until one of the two changes (XFS
  /// and btrfs, on the same file system), or the kernel copies them. Otherwise they are copied in
  /// pieces. The content is read once in any case, for its hash.
  ///
  /// - Parameter path: The regular file to copy. Links are followed. The others are those of the
  ///   store of a span.
  /// - Throws: `CacheError`, as the store of a span does; with the file's path if that file cannot
  ///   be opened.
  /// - Complexity: O(bytes), in the memory of a piece.
  @discardableResult
  public func store(
    contentsOfFile path: String, forKey key: some CacheKeyConvertible,
    expiration: Expiration? = nil, extendedData: [UInt8] = []
  ) throws(CacheError) -> StoreOutcome {
    try store(forKey: key, expiration: expiration, extendedData: extendedData) { stream in
      try stream.copyContent(of: try source(path), at: path)
    }
  }

  /// Opens a file whose content is to be stored.
  private func source(_ path: String) throws(CacheError) -> FileDescriptor {
    do throws(Errno) {
      let file = try FileDescriptor.open(source: path, faults: engine.configuration.faults)
      // Other files than regular ones have no length and cannot be rewound. A directory can be
      // opened, and only the read would fail.
      let status = try file.status()
      if status.isDirectory { throw .isDirectory }
      guard status.isRegular else { throw .invalidArgument }
      return file
    } catch {
      let isOther = EntryReader.missReason(for: error) == nil
      throw isOther
        ? CacheError(errno: error, operation: "store", path: path)
        : CacheError(.invalidArgument, operation: "store", path: path, errno: error)
    }
  }

  /// Throws if the cache was closed or only reads, or the process forked since it was opened.
  func checkWritable(_ operation: String) throws(CacheError) {
    try checkUsable(operation)
    try engine.checkWritable(operation)
  }

  /// Throws if nothing may be stored. The error says that the older value is still there.
  package func checkStorable() throws(CacheError) {
    do throws(CacheError) {
      try checkWritable("store")
    } catch {
      throw error.settingOldValueRemains(true)
    }
  }

  /// Gives an entry another expiry, counted from now, without writing its content.
  ///
  /// Counts as a use. Changes both stamps and the recorded lifetime; the value, its extended data
  /// and its hash stay. The new expiry may be earlier or later than before. `.expired` ends the
  /// value's validity now and leaves its file until it is swept.
  ///
  /// If several processes stamp at once, the last one wins. A value that another process stores at
  /// this moment keeps its own expiry.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - expiration: The time for which the value is valid from now; the configured one if nil.
  ///   - allowingExpired: Whether an expired value that is still there becomes valid again. The
  ///     default is false.
  /// - Returns: Whether there was a value; not one that is absent, expired or another key's, or
  ///   that another process replaces at this moment.
  /// - Throws: `CacheError`: `.readOnly`, `.permissionDenied` for a file of another user,
  ///   `.closed`, `.forked`, `.io`.
  /// - Complexity: O(1); a value that waits to be written is written first, in O(bytes).
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) throws(CacheError) -> Bool {
    try checkWritable("touch")
    let request = request(key, expiration, [])
    return try engine.countingErrors { () throws(CacheError) in
      try touch(request, revives: allowingExpired)
    }
  }

  /// Makes an entry of a file that was edited or made by hand. Its content stays as it is.
  ///
  /// The file gets a new hash and both stamps. The last access is now. The expiry follows from
  /// `expiration`; if that is nil, from the recorded lifetime, or else from the configured one. A
  /// recorded fixed expiry stays if it is not past. The recorded key stays unless it does not
  /// belong to the name. Extended data stays. If the content is being written at this moment, it is
  /// read again until it no longer changes.
  ///
  /// - Parameters:
  ///   - name: The file's name in the directory.
  ///   - expiration: The time for which the entry is valid from now; see above for nil.
  /// - Throws: `CacheError`: `.invalidArgument` for a name that no entry has, `.readOnly`,
  ///   `.permissionDenied`, `.closed`, `.forked`, `.io`; `.resourcesExhausted` for a sparse file of
  ///   more bytes than the process could hold.
  /// - Complexity: O(bytes), in constant memory.
  public func stamp(
    _ name: String, expiration: Expiration? = nil
  ) throws(CacheError) -> StampOutcome {
    try checkWritable("stamp")
    guard let name = EntryName(Array(name.utf8)) else {
      throw CacheError(.invalidArgument, operation: "stamp", path: name)
    }
    let expiration = HandStamp(given: expiration, otherwise: configuration.expiration)
    behind?.writeAll(of: name)
    return try engine.countingErrors { () throws(CacheError) in try engine.stamp(name, expiration) }
  }

  /// Stores a value that is in memory.
  package func store(
    _ content: Span<UInt8>, _ request: StoreRequest
  ) throws(CacheError) -> StoreOutcome {
    guard let behind else { return try engine.store(content, request) }
    return try behind.store(content, request)
  }

  /// Gives an entry another expiry without writing its content.
  package func touch(
    _ request: StoreRequest, revives: Bool, _ identity: EntryIdentity? = nil
  ) throws(CacheError) -> Bool {
    guard let behind else { return try engine.touch(request, revives: revives, identity) }
    return try behind.touch(request, revives: revives, identity)
  }
}
