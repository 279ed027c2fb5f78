import LarderDigest

extension NameTable {
  /// The bucket of a name: as many bits of its hash as name a bucket that is there already.
  func bucket(of digest: MD5Digest, _ extensionNumber: UInt16) -> Int {
    let bucket = hash(digest, extensionNumber) & mask
    return bucket < buckets.count ? bucket : bucket & (mask >> 1)
  }

  /// The bucket of an entry.
  func bucket(of slot: EntrySlot) -> Int {
    let identity = identities[slot]
    return bucket(of: identity.digest, identity.extensionNumber)
  }

  /// Adds a bucket, and moves to it what its hash sends there from the bucket half as many before.
  ///
  /// - Complexity: O(1), for the length of one chain.
  mutating func addBucket() {
    let added = buckets.count
    buckets.append(.none)
    guard added > 0 else { return }
    // The first bucket beyond a power of two: one bit more of the hash counts from now on.
    if added > mask { mask = 2 * mask + 1 }
    let source = added & (mask >> 1)
    var slot = buckets[source]
    buckets[source] = .none
    // Both chains come out reversed, which matters to nobody.
    while slot != .none {
      let next = identities[slot].next
      let bucket = bucket(of: slot)
      identities[slot].next = buckets[bucket]
      buckets[bucket] = slot
      slot = next
    }
  }

  /// Takes a slot out of its chain.
  ///
  /// - Complexity: O(1), for the length of one chain.
  mutating func unchain(_ slot: EntrySlot) {
    let bucket = bucket(of: slot)
    let next = identities[slot].next
    var before = buckets[bucket]
    guard before != slot else {
      buckets[bucket] = next
      return
    }
    while identities[before].next != slot { before = identities[before].next }
    identities[before].next = next
  }
}
