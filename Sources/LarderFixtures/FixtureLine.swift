package import LarderBasics
import LarderDigest
package import LarderDisk
package import LarderSystem

/// One entry in a fixture's manifest: everything about a file that git does not keep.
package struct FixtureLine: Sendable, Equatable {
  /// The file's name. Lines are sorted by it.
  package var name: EntryName
  /// The key or its digest, if one of them is known.
  var proof: KeyProof
  /// The expiry of the entry.
  package var expiry: Timestamp
  /// The last use of the entry.
  package var lastAccess: Timestamp
  /// The way a use moves the expiry.
  var lifetime: Lifetime
  /// XXH64 of the content followed by the extended data.
  var contentHash: UInt64
  /// The caller's own data stored with the value.
  package var extendedData: [UInt8] = []

  /// Creates a line. Times outside of the range of RFC 3339 count as its first or last time.
  init(
    name: EntryName, proof: KeyProof, expiry: Timestamp, lastAccess: Timestamp, lifetime: Lifetime,
    contentHash: UInt64, extendedData: [UInt8] = []
  ) {
    (self.name, self.proof, self.lifetime) = (name, proof, lifetime)
    (self.contentHash, self.extendedData) = (contentHash, extendedData)
    self.expiry = min(max(expiry, .firstOfRFC3339), .never)
    self.lastAccess = min(max(lastAccess, .firstOfRFC3339), .lastOfRFC3339)
  }
}

extension FixtureLine {
  /// Creates the line of a file that was not recorded, such as one made by hand: it never expires.
  init(unlisted name: EntryName, lastAccess: Timestamp, contentHash: UInt64) {
    self.init(
      name: name, proof: .none, expiry: .never, lastAccess: lastAccess, lifetime: .fixed,
      contentHash: contentHash)
  }

  /// Creates a line from a file's attribute and stamps. A last use in the future counts as now.
  init(
    _ name: EntryName, _ attribute: EntryAttribute, _ status: FileStatus, extendedData: [UInt8],
    now: Timestamp
  ) {
    self.init(
      name: name, proof: attribute.proof, expiry: status.modification.asExpiry,
      lastAccess: min(status.lastAccess, now), lifetime: attribute.lifetime,
      contentHash: attribute.contentHash, extendedData: extendedData)
  }

  /// The key, if all of it is known.
  package var key: CacheKey? {
    if case .key(let bytes) = proof { CacheKey(bytes) } else { nil }
  }

  /// Whether the file's name is that of the recorded key.
  var isNamedByItsKey: Bool {
    guard case .key(let key) = proof else { return true }
    return MD5.digest(of: key.span) == name.digest
  }

  /// Sets the attributes and stamps of a file as the line records them.
  ///
  /// - Returns: Whether the file system has attributes. If it has none, the stamps are set all the
  ///   same.
  func seal(_ file: borrowing FileDescriptor) throws(Errno) -> Bool {
    var isTold = true
    do throws(Errno) {
      // First, because the hash in the entry's attribute covers these data.
      if !extendedData.isEmpty { try file.setAttribute(.data, to: extendedData) }
      try sealEntry(file)
    } catch .notSupported {
      isTold = false
    }
    try file.setTimes(access: lastAccess, modification: expiry)
    return isTold
  }

  /// Sets the entry's attribute. A key that does not fit is replaced by its digest.
  private func sealEntry(_ file: borrowing FileDescriptor) throws(Errno) {
    do throws(Errno) {
      try file.setAttribute(.entry, to: attribute(recordsKey: true).bytes)
    } catch .argumentListTooLong, .noSpace, .quotaExceeded {
      try file.setAttribute(.entry, to: attribute(recordsKey: false).bytes)
    }
  }

  private func attribute(recordsKey: Bool) -> EntryAttribute {
    var proof = proof
    if case .key(let key) = proof { proof = KeyProof(of: key.span, recordsKey: recordsKey) }
    return EntryAttribute(contentHash: contentHash, lifetime: lifetime, proof: proof)
  }
}
