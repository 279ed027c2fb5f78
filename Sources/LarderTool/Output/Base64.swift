import Larder

/// The Base64 encoding. Source: RFC 4648 §4, with padding.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Returns the encoded bytes on one line.
  static func text(of bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      append(bytes[start..<min(start + 3, bytes.count)], to: &text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the four characters of up to three bytes.
  private static func append(_ group: ArraySlice<UInt8>, to text: inout [UInt8]) {
    let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * (3 - group.count))
    for index in 0..<4 {
      let digit = Int(bits >> (18 - 6 * index)) & 63
      text.append(index <= group.count ? alphabet[digit] : UInt8(ascii: "="))
    }
  }
}

extension [DiskEntry] {
  /// The bytes of all values together, or the largest `Int` if the sum exceeds it.
  ///
  /// - Complexity: O(n).
  var byteCount: Int { reduce(into: 0) { $0.addSaturating(UInt64($1.byteCount)) } }
}
