import LarderDigest
import LarderSystem

/// A table that finds entries by name, with a slot and a record each: linear hashing with chains.
///
/// ```
///  buckets   0    1    2    3    4      as many as there were entries at most: with the next one,
///            │    │    │    │    │      bucket 5 is added, and takes over its part of bucket 1
///            ▼    ▼    ▼    ▼    ▼
///  slots     7    –    2    0    5
///            ▼         ▼
///            3         6                each slot names the next of its chain
/// ```
///
/// Once there are as many entries as buckets, each insertion splits one bucket, so the table is
/// never rebuilt as a whole. Doubling a table of a million names would be a pause of tens of
/// milliseconds for every thread that waits for the index's lock. A chain is one slot long on
/// average. The table costs 8 bytes per name. Open addressing costs between 5 and 11, and twice
/// that while it grows.
///
/// - Complexity: O(1) for each operation, or the length of one chain.
struct NameTable<Record: Sendable>: Sendable {
  /// The identity of a slot's name: 24 bytes.
  struct Identity: Sendable {
    let digest: MD5Digest
    /// The next slot of the chain, or the next free slot.
    var next: EntrySlot
    // The number of the extension, and below it the top of the length.
    private var word: UInt32

    init(_ digest: MD5Digest, _ extensionNumber: UInt32, next: EntrySlot) {
      (self.digest, self.next, word) = (digest, next, extensionNumber << 8)
    }

    /// The number of the extension, of 24 bits; `ExtensionNumbers.unused` for a free slot.
    var extensionNumber: UInt32 { word >> 8 }

    /// The top 8 of the 40 bits of the value's length.
    var lengthTop: UInt8 {
      get { UInt8(truncatingIfNeeded: word) }
      set { word = word & ~0xFF | UInt32(newValue) }
    }
  }

  var identities = ChunkedArray<Identity>()
  /// The records of the slots; those of free slots mean nothing.
  var records = ChunkedArray<Record>()
  var buckets = ChunkedArray<EntrySlot>()
  var extensions = ExtensionNumbers()
  /// The bits of a hash that count while the number of buckets doubles. For a bucket that is still
  /// to be added, one bit less counts.
  private var mask = 1
  var firstFree = EntrySlot.none
  /// The number of names.
  private(set) var count = 0

  /// The number of slots, used or free.
  var slotCount: Int { identities.count }

  /// Returns the slot of a name.
  func slot(of name: EntryName) -> EntrySlot? {
    guard count > 0, let number = extensions.number(of: name.fileExtension) else { return nil }
    var slot = buckets[bucket(of: name.digest, number)]
    while slot != .none {
      let identity = identities[slot]
      if identity.digest == name.digest && identity.extensionNumber == number { return slot }
      slot = identity.next
    }
    return nil
  }

  /// Gives a slot to a name that is not in the table.
  mutating func insert(_ name: EntryName, _ record: Record) -> EntrySlot {
    let number = extensions.use(name.fileExtension)
    // Added before the bucket is looked up, because the name may belong in the new one.
    if count >= buckets.count { addBucket() }
    let slot = takeSlot()
    let bucket = bucket(of: name.digest, number)
    identities.put(Identity(name.digest, number, next: buckets[bucket]), at: slot)
    records.put(record, at: slot)
    buckets[bucket] = slot
    count += 1
    return slot
  }

  /// Takes a name out and gives its slot back.
  mutating func remove(_ slot: EntrySlot) {
    let identity = identities[slot]
    unchain(slot, identity)
    extensions.endUse(of: identity.extensionNumber)
    // The digest stays, because the extension's number alone marks a slot as free.
    identities[slot] = Identity(
      identity.digest, ExtensionNumbers.unused, next: exchange(&firstFree, with: slot))
    count -= 1
  }

  /// Returns the name that has a slot.
  func name(of slot: EntrySlot) -> EntryName {
    let identity = identities[slot]
    return EntryName(
      digest: identity.digest, fileExtension: extensions[identity.extensionNumber])
  }

  /// Returns the names of the chosen ones of some slots.
  ///
  /// - Complexity: O(slots).
  func names(in slots: Range<Int>, where isChosen: (EntrySlot) -> Bool) -> [EntryName] {
    slots.clamped(to: 0..<slotCount).compactMap { number in
      let slot = EntrySlot(number)
      return isUsed(slot) && isChosen(slot) ? name(of: slot) : nil
    }
  }

  /// Whether a slot is an entry's.
  func isUsed(_ slot: EntrySlot) -> Bool {
    identities[slot].extensionNumber != ExtensionNumbers.unused
  }

  /// Takes the slot that was freed last, or else a new one at the end.
  private mutating func takeSlot() -> EntrySlot {
    let slot = firstFree
    guard slot == .none else {
      firstFree = identities[slot].next
      return slot
    }
    precondition(slotCount < UInt32.max - 2, "an index holds fewer than 2³² − 3 entries")
    return EntrySlot(slotCount)
  }

  /// Returns the bucket of a name: its hash under the mask, or under the one before it.
  ///
  /// Any program that can write to the directory chooses the names. If the bits of the digest chose
  /// the bucket, a few thousand chosen names would fall into one bucket, and every look-up would
  /// walk past them all. The hash has keys that are drawn once in a process. The extension counts
  /// too, because one digest may come with thousands of them.
  func bucket(of digest: MD5Digest, _ extensionNumber: UInt32) -> Int {
    let hash = ByteHash.hash(digest.high, digest.low, UInt64(extensionNumber))
    let bucket = hash & mask
    return bucket < buckets.count ? bucket : bucket & (mask >> 1)
  }

  /// Adds a bucket, and moves the slots to it that belong there by their hash. They come from the
  /// bucket that it is split from.
  private mutating func addBucket() {
    let added = buckets.count
    buckets.append(.none)
    guard added > 0 else { return }
    // The first bucket beyond a power of two: one bit more of the hash counts from now on.
    if added > mask { mask = 2 * mask + 1 }
    let source = added & (mask >> 1)
    var slot = buckets[source]
    buckets[source] = .none
    // Both chains come out reversed, which has no effect.
    while slot != .none {
      let identity = identities[slot]
      let bucket = bucket(of: identity.digest, identity.extensionNumber)
      identities[slot].next = buckets[bucket]
      buckets[bucket] = slot
      slot = identity.next
    }
  }

  /// Takes a slot out of its chain.
  private mutating func unchain(_ slot: EntrySlot, _ identity: Identity) {
    let bucket = bucket(of: identity.digest, identity.extensionNumber)
    var before = buckets[bucket]
    guard before != slot else {
      buckets[bucket] = identity.next
      return
    }
    while identities[before].next != slot { before = identities[before].next }
    identities[before].next = identity.next
  }
}
