package import LarderBasics
package import LarderSystem

/// A store without its content, or a touch: the key, the facts beside it, and the conditions.
package struct StoreRequest: Sendable {
  package let subject: Subject
  var expiration: Expiration
  var extendedData: [UInt8]
  /// Whether a value of a number of bytes may be stored; nil for any.
  var admits: (@Sendable (CacheKey, _ byteCount: Int) -> Bool)?
  /// Whether the store leaves a present value in place.
  var isExclusive = false
  /// Whether the value is that of a load, whose source was read before the store.
  package var isLoad = false
  /// Whether the value is still to be stored, asked when the store holds the name.
  package var isWanted: (@Sendable () -> Bool)?
  /// The memory tier of the object that stores. `onChange` tells it.
  package var origin: ObjectIdentifier?
  /// The facts of a value that was accepted earlier, of which the memory tiers were told then;
  /// nil for a store that the caller makes now.
  var accepted: Seal?
  /// Runs when the value is visible or was touched, before any other change of the name; with nil
  /// before and after the removal of the older value, if the store failed or was rejected.
  package var onChange: (@Sendable (PublishedValue?) -> Void)?
  /// Runs with the name held when its file was replaced or removed, before `onChange`. Gets the
  /// status of the published file; nil if it was removed or is in another directory. Returns
  /// whether a value that had the name goes as well.
  package var onSettled: (@Sendable (FileStatus?) -> Bool)?

  /// Whether it outdates running loads: not a load's value, nor one told of when it was accepted.
  var isNewer: Bool { accepted == nil && !isLoad }

  /// The largest extended data. With a key of 2,000 bytes and the attribute's other fields it fits
  /// into ext4's block of 4 KiB.
  package static let maximumExtendedDataCount = 1024

  /// Returns the reason for which a store is rejected before it writes; nil if it may go on.
  ///
  /// - Parameter byteCount: The value's length, if it is known.
  // Inlined, because a call copies the configuration: 200 instructions of a store.
  @inline(__always)
  func rejection(
    byteCount: Int?, at clock: @autoclosure () -> Timestamp,
    _ configuration: DiskCache.Configuration,
    _ path: @autoclosure () -> String
  ) throws(CacheError) -> StoreOutcome.Reason? {
    if extendedData.count > Self.maximumExtendedDataCount {
      throw CacheError(
        .invalidArgument, operation: "store", path: path(),
        underlying: "extended data of \(extendedData.count) bytes; at most 1,024 are kept")
    }
    let now = clock()
    if expiration.expiry(at: now).hasCome(at: now) { return .expired }
    let isTooLarge = byteCount ?? 0 > configuration.sizeLimit ?? .max
    if isTooLarge || configuration.sizeLimit == 0 || configuration.countLimit == 0 {
      return .tooLarge
    }
    guard let byteCount, admits?(subject.key, byteCount) == false else { return nil }
    return .declined
  }

  /// Returns the facts of a value that is stored or accepted now.
  func seal(lastAccess: Timestamp, at now: Timestamp) -> Seal {
    Seal(
      key: subject.key, lifetime: expiration.lifetime, lastAccess: lastAccess,
      expiry: expiration.expiry(at: now), extendedData: extendedData, begin: now)
  }
}

/// A value that has just become visible.
package struct PublishedValue: Sendable {
  package let byteCount: Int
  package let expiry: Timestamp
  package let lifetime: Lifetime
  /// The number of removals of everything that had begun.
  let clearCount: Int
}
