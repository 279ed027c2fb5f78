public import LarderBasics
public import LarderSystem

/// The outcome of stamping the file of a name.
@nonexhaustive
public enum StampOutcome: Sendable, Hashable {
  /// The file is an entry and valid until a point in time; nil for no expiry.
  case stamped(expiry: Timestamp?)
  /// There is no file of that name that can be an entry.
  case absent
  /// The file was written by another version of the format and stays as it is.
  case otherVersion
}

extension DiskCache {
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
  /// - Returns: Whether there was a value. `false` for one that is absent, expired or another
  ///   key's.
  /// - Throws: `CacheError`: `.readOnly`, `.permissionDenied` for a file of another user,
  ///   `.closed`, `.forked`, `.io`.
  /// - Complexity: O(1); a value that waits to be written is written first, in O(bytes).
  @discardableResult
  public func touch(
    forKey key: some CacheKeyConvertible, expiration: Expiration? = nil,
    allowingExpired: Bool = false
  ) throws(CacheError) -> Bool {
    try checkWritable("touch")
    let request = DiskEngine.TouchRequest(
      subject: subject(key), expiration: expiration ?? self.expiration, revives: allowingExpired)
    return try engine.countingErrors { () throws(CacheError) in try engine.touch(request) }
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
    let expiration = Restamping(given: expiration, otherwise: configuration.expiration)
    return try engine.countingErrors { () throws(CacheError) in try engine.stamp(name, expiration) }
  }
}
