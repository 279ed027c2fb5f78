package import LarderBasics
import LarderDigest
package import LarderDisk
package import LarderSystem

/// One entry as a fixture's manifest tells of it: all that git does not keep of a file.
package struct FixtureLine: Sendable, Equatable {
  /// The file's name, whose order is that of the lines.
  package var name: EntryName
  /// The key or what stands for it.
  var proof: KeyProof
  /// When the entry expires.
  package var expiry: Timestamp
  /// When it was last used.
  package var lastAccess: Timestamp
  /// What a use does to the expiry.
  var lifetime: Lifetime
  /// XXH64 of the content followed by the extended data.
  var contentHash: UInt64
  /// The caller's own data beside the value.
  package var extendedData: [UInt8] = []

  /// Creates a line; times that a line has no form for count as the first or last that it has.
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
  /// The line of a file that nobody recorded, such as one made by hand: it never expires.
  init(unlisted name: EntryName, lastAccess: Timestamp, contentHash: UInt64) {
    self.init(
      name: name, proof: .none, expiry: .never, lastAccess: lastAccess, lifetime: .fixed,
      contentHash: contentHash)
  }

  /// The line of a file as its attribute and stamps tell; a use in the future counts as now.
  init(
    _ name: EntryName, _ attribute: EntryAttribute, _ status: FileStatus, extendedData: [UInt8],
    now: Timestamp
  ) {
    self.init(
      name: name, proof: attribute.proof, expiry: status.modification.asExpiry,
      lastAccess: min(status.lastAccess, now), lifetime: attribute.lifetime,
      contentHash: attribute.contentHash, extendedData: extendedData)
  }

  /// The key, if it is known as a whole.
  package var key: CacheKey? {
    if case .key(let bytes) = proof { CacheKey(bytes) } else { nil }
  }

  /// Whether the key on record has the name of the file.
  var isNamedByItsKey: Bool {
    guard case .key(let key) = proof else { return true }
    return MD5.digest(of: key.span) == name.digest
  }

  /// Gives a file the attributes and stamps that the line tells of.
  ///
  /// - Returns: Whether the file system has attributes; without any, the stamps are set all the
  ///   same.
  func seal(_ file: borrowing FileDescriptor) throws(Errno) -> Bool {
    var isTold = true
    do throws(Errno) {
      // First, because the entry's attribute holds a hash over it.
      if !extendedData.isEmpty { try file.setAttribute(.data, to: extendedData) }
      try sealEntry(file)
    } catch .notSupported {
      isTold = false
    }
    try file.setTimes(access: lastAccess, modification: expiry)
    return isTold
  }

  /// Sets the entry's attribute; a key that does not fit stands in it as its digest.
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
