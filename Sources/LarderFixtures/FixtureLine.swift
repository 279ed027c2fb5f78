package import LarderBasics
import LarderDigest
package import LarderDisk
package import LarderSystem

/// One entry in a fixture's manifest: everything about a file that git does not keep.
package struct FixtureLine: Sendable, Equatable {
  /// The file's name. Lines are sorted by it.
  package var name: EntryName
  /// The key or its digest, if one of them is known.
  package var proof: KeyProof
  /// The expiry of the entry.
  package var expiry: Timestamp
  /// The last use of the entry.
  package var lastAccess: Timestamp
  /// The way a use moves the expiry.
  package var lifetime: Lifetime
  /// XXH64 of the content followed by the extended data.
  package var contentHash: UInt64
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
  package var key: CacheKey? { proof.key }

  /// Whether a cache kept the value. A load that did not let it is recorded as `.expired`. Any
  /// other line that has expired is that of a value which was valid once.
  package var isKept: Bool { lifetime != .fixed || expiry != lastAccess }

  /// Whether the file's name is that of the recorded key.
  package var isNamedByItsKey: Bool { proof.fits(name) }

  /// Sets the attributes and stamps of a file as the line records them.
  ///
  /// - Returns: Whether the file system has attributes. Without, the stamps are set all the same.
  package func seal(_ file: borrowing FileDescriptor) throws(Errno) -> Bool {
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
      try file.setAttribute(.entry, to: attribute(as: .key))
    } catch .argumentListTooLong, .noSpace, .quotaExceeded {
      try file.setAttribute(.entry, to: attribute(as: .keyWithin(0)))
    }
  }

  private func attribute(as form: KeyProof.Form) -> [UInt8] {
    guard case .key(let key) = proof else {
      return EntryAttribute(contentHash: contentHash, lifetime: lifetime, proof: proof).bytes
    }
    return EntryAttribute.bytes(contentHash, lifetime, key: key.span, as: form)
  }
}

extension FixtureLine: CustomStringConvertible {
  /// The line without its newline:
  ///
  /// ```
  /// NAME "KEY" expires=TIME used=TIME lifetime=SECONDS hash=DIGITS data="BYTES"
  /// ```
  ///
  /// Times are written as in RFC 3339 in UTC, or `never`. A lifetime is a number of seconds,
  /// `never` or `fixed`. A key that is not known is written as `#` and the 16 characters of its
  /// digest, with the end of the key in quotes if the file had it, or as `-`. `data` is omitted if
  /// there is none. Keys and data are spelled as by `EscapedText`.
  package var description: String {
    var fields = [
      "\(name)", proofText, "expires=\(expiry < .never ? expiry.rfc3339 : "never")",
      "used=\(lastAccess.rfc3339)", "lifetime=\(lifetimeText)",
      "hash=\(contentHash.digits(16, radix: 16))",
    ]
    if !extendedData.isEmpty { fields.append("data=\(Self.quoted(extendedData))") }
    return fields.joined(separator: " ")
  }

  private var proofText: String {
    switch proof {
    case .key(let key): Self.quoted(key)
    case .digest(let digest, let hint):
      "#\(Self.characters(of: digest))\(hint.isEmpty ? "" : Self.quoted(hint))"
    case .none: "-"
    }
  }

  private var lifetimeText: String {
    switch lifetime {
    case .seconds(let count): "\(count)"
    case .never: "never"
    case .fixed, .unknown: "fixed"
    }
  }

  private static func characters(of digest: BLAKE2bDigest) -> String {
    let bytes = [UInt8](capacity: Base64URL.digestCount) { bytes in
      Base64URL.append(digest, to: &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func quoted(_ bytes: [UInt8]) -> String {
    "\"\(EscapedText.spelling(of: bytes))\""
  }
}

extension FixtureLine {
  /// Reads a line; nil for any text that `description` does not write.
  init?(_ line: some StringProtocol) {
    var scanner = FixtureScanner(line)
    guard let name = EntryName(Array(scanner.word())), let proof = scanner.proof(),
      let expiry = scanner.textField("expires").flatMap(Self.expiry),
      let lastAccess = scanner.textField("used").flatMap({ Timestamp(rfc3339: $0) }),
      let lifetime = scanner.textField("lifetime").flatMap(Self.lifetime),
      let hash = scanner.field("hash").flatMap({ Hexadecimal.word(of: Array($0).span) })
    else { return nil }
    self.init(
      name: name, proof: proof, expiry: expiry, lastAccess: lastAccess, lifetime: lifetime,
      contentHash: hash)
    if !scanner.isAtEnd {
      guard let data = scanner.quotedField("data"), scanner.isAtEnd,
        data.count <= StoreRequest.maximumExtendedDataCount
      else { return nil }
      extendedData = data
    }
    // Each line has only one spelling, so that no diff shows a change without a cause.
    // As bytes, because to Swift a composed and a decomposed letter are equal.
    guard description.utf8.elementsEqual(line.utf8) else { return nil }
  }

  private static func expiry(_ text: Substring) -> Timestamp? {
    text == "never" ? .never : Timestamp(rfc3339: text)
  }

  private static func lifetime(_ text: Substring) -> Lifetime? {
    switch text {
    case "never": .never
    case "fixed": .fixed
    default: UInt32(text).map { .seconds($0) }
    }
  }
}
