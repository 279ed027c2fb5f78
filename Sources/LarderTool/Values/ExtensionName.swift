/// The extension of entries' names: 1 to 20 ASCII letters or digits, without the dot.
struct ExtensionName: Sendable, Hashable {
  /// The letters and digits.
  let text: String

  /// What may follow `--ext`, for errors.
  static let accepted = "an extension is 1 to 20 ASCII letters or digits"

  /// Reads an extension, with or without the dot in front.
  init(parsing bytes: some Collection<UInt8>) throws(ValueError) {
    let name = bytes.first == UInt8(ascii: ".") ? bytes.dropFirst() : bytes[...]
    guard (1...20).contains(name.count), name.allSatisfy(Self.isAllowed) else {
      throw ValueError(bytes, "is no extension", accepted: Self.accepted)
    }
    text = String(decoding: name, as: UTF8.self)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "0"..."9", "a"..."z", "A"..."Z": true
    default: false
    }
  }
}
