public import LarderBasics
public import LarderSystem

/// What stamping the file of a name came to.
@nonexhaustive
public enum StampOutcome: Sendable, Hashable {
  /// The file is an entry again, or still, until a point in time; nil for never.
  case stamped(expiry: Timestamp?)
  /// There is no file of that name that can be an entry.
  case absent
  /// The file was written by another version of the format and stays as it is.
  case otherVersion
}

extension DiskCache {
  /// Gives an entry another expiry, counted from now, without writing its content.
  ///
  /// Counts as a use. Changes both stamps and the lifetime on record; the value, its extended data
  /// and its hash stay. Earlier or later than before, the expiry is what `expiration` says;
  /// `.expired` ends the value's validity now and leaves its file until it is swept.
  ///
  /// Of several processes that stamp at once the last wins. A value that is replaced at this moment
  /// by another process keeps its own expiry.
  ///
  /// - Parameters:
  ///   - key: What the value is found by.
  ///   - expiration: How long the value is valid from now; the configured time when nil.
  ///   - allowingExpired: Whether an expired value that is still there becomes valid again. The
  ///     default is false.
  /// - Returns: Whether there was a value. `false` for one that is absent, expired or another key's.
  /// - Throws: `CacheError`: `.readOnly`, `.permissionDenied` for a file of another user, `.closed`,
  ///   `.forked`, `.io`.
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

  /// Makes an entry of a file that was edited or made by hand: its content is taken as it is.
  ///
  /// The file gets a fresh hash and both stamps: the last access is now, and the expiry follows
  /// from `expiration`; when that is nil, from the lifetime on record, or else from the configured
  /// one. A fixed expiry on record stays if it is not past. The key on record stays unless it does
  /// not belong to the name; extended data stays. Content that somebody is writing at this moment
  /// is read again until it holds still.
  ///
  /// - Parameters:
  ///   - name: The file's name in the directory.
  ///   - expiration: How long the entry is valid from now; see above when nil.
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
