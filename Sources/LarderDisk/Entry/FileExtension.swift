/// The extension of an entry's name, without its dot: 1 to 20 ASCII letters or digits, or nothing.
package struct FileExtension: Sendable, Hashable {
  /// The most letters and digits an extension may have.
  static let maximumCount = 20

  /// No dot and no extension.
  package static let none = FileExtension(packed: (0, 0, 0))

  // Twenty bytes, zero after the last, in the order in which they compare as text.
  private let packed: (UInt64, UInt64, UInt32)

  private init(packed: (UInt64, UInt64, UInt32)) {
    self.packed = packed
  }

  /// Reads an extension without its dot; nil when a character or the length does not fit.
  package init?(_ text: some Collection<UInt8>) {
    guard text.count <= Self.maximumCount, text.allSatisfy(Self.isAllowed) else { return nil }
    var words: (UInt64, UInt64, UInt32) = (0, 0, 0)
    for (index, byte) in text.enumerated() {
      switch index {
      case 0..<8: words.0 |= UInt64(byte) << (56 - 8 * index)
      case 8..<16: words.1 |= UInt64(byte) << (56 - 8 * (index - 8))
      default: words.2 |= UInt32(byte) << (24 - 8 * (index - 16))
      }
    }
    packed = words
  }

  /// The letters and digits.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for index in 0..<Self.maximumCount {
      let byte = byte(at: index)
      if byte == 0 { break }
      bytes.append(byte)
    }
    return bytes
  }

  /// Returns the byte at a position; 0 after the last.
  func byte(at index: Int) -> UInt8 {
    switch index {
    case 0..<8: UInt8(truncatingIfNeeded: packed.0 >> (56 - 8 * index))
    case 8..<16: UInt8(truncatingIfNeeded: packed.1 >> (56 - 8 * (index - 8)))
    case 16..<20: UInt8(truncatingIfNeeded: packed.2 >> (24 - 8 * (index - 16)))
    default: 0
    }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }
}

extension FileExtension: Comparable {
  /// Compares the packed words; a tuple cannot be Hashable by itself.
  package static func == (a: FileExtension, b: FileExtension) -> Bool { a.packed == b.packed }

  /// Compares the packed words. They hold the bytes from the top and end in zeros, so this is the
  /// order of the bytes.
  package static func < (a: FileExtension, b: FileExtension) -> Bool { a.packed < b.packed }

  /// Feeds the three words.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(packed.0)
    hasher.combine(packed.1)
    hasher.combine(packed.2)
  }
}
