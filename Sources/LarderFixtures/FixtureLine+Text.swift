import LarderBasics
import LarderDigest
import LarderDisk
import LarderSystem

extension FixtureLine: CustomStringConvertible {
  /// The line without its newline:
  ///
  /// ```
  /// NAME "KEY" expires=TIME used=TIME lifetime=SECONDS hash=DIGITS data="BYTES"
  /// ```
  ///
  /// Times are written as in RFC 3339 in UTC, or `never`. A lifetime is a number of seconds,
  /// `never` or `fixed`. A key that is not known is written as `#` and 32 digits of its SHA-256, or
  /// as `-`. `data` is omitted if there is none. Bytes other than printable ASCII are `\xHH`.
  package var description: String {
    var fields = [
      "\(name)", proofText, "expires=\(expiry < .never ? expiry.rfc3339 : "never")",
      "used=\(lastAccess.rfc3339)", "lifetime=\(lifetimeText)", "hash=\(Self.digits(contentHash))",
    ]
    if !extendedData.isEmpty { fields.append("data=\(Self.quoted(extendedData))") }
    return fields.joined(separator: " ")
  }

  private var proofText: String {
    switch proof {
    case .key(let key): Self.quoted(key)
    case .digest(let first, let second): "#" + Self.digits(first) + Self.digits(second)
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

  private static func digits(_ word: UInt64) -> String {
    var digits: [UInt8] = []
    Hexadecimal.append(word, to: &digits)
    return String(decoding: digits, as: UTF8.self)
  }

  private static func quoted(_ bytes: [UInt8]) -> String {
    "\"\(EscapedText.spelling(of: bytes, escapingSpaces: false))\""
  }
}

extension FixtureLine {
  /// Reads a line; nil for any text that `description` does not write.
  init?(_ line: some StringProtocol) {
    var scanner = FixtureScanner(line)
    guard let name = EntryName(Array(scanner.word().utf8)), let proof = scanner.proof(),
      let expiry = scanner.field("expires").flatMap(Self.expiry),
      let lastAccess = scanner.field("used").flatMap({ Timestamp(rfc3339: $0) }),
      let lifetime = scanner.field("lifetime").flatMap(Self.lifetime),
      let hash = scanner.field("hash").flatMap(Self.word)
    else { return nil }
    self.init(
      name: name, proof: proof, expiry: expiry, lastAccess: lastAccess, lifetime: lifetime,
      contentHash: hash)
    if !scanner.isAtEnd {
      guard let data = scanner.quotedField("data"), scanner.isAtEnd,
        data.count <= DiskEngine.maximumExtendedDataCount
      else { return nil }
      extendedData = data
    }
    // Each line has only one spelling, so that no diff shows a change without a cause.
    guard description == String(line) else { return nil }
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

  static func word(_ digits: Substring) -> UInt64? {
    Hexadecimal.word(of: Array(digits.utf8).span)
  }
}
