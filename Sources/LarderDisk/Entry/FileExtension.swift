import LarderSystem

/// The extension of an entry's name, without its dot: 1 to 20 ASCII letters or digits, or nothing.
package struct FileExtension: Sendable, Hashable, Comparable {
  /// The most letters and digits an extension may have.
  private static let maximumCount = 20

  /// No dot and no extension.
  package static let none = FileExtension()

  // Twenty bytes, zero after the last, in the order in which they compare as text.
  private var first: UInt64 = 0
  private var second: UInt64 = 0
  private var third: UInt32 = 0

  private init() {}

  /// Reads an extension without its dot; nil when a character or the length does not fit.
  package init?(_ text: some Collection<UInt8>) {
    guard text.count <= Self.maximumCount, text.allSatisfy(Self.isAllowed) else { return nil }
    for (index, byte) in text.enumerated() {
      switch index {
      case 0..<8: first |= UInt64(byte) << (56 - 8 * index)
      case 8..<16: second |= UInt64(byte) << (56 - 8 * (index - 8))
      default: third |= UInt32(byte) << (24 - 8 * (index - 16))
      }
    }
  }

  /// The letters and digits.
  package var bytes: some Collection<UInt8> {
    (0..<Self.maximumCount).lazy.map(byte).prefix { $0 != 0 }
  }

  /// Returns the byte at a position; 0 after the last.
  private func byte(at index: Int) -> UInt8 {
    switch index {
    case 0..<8: UInt8(truncatingIfNeeded: first >> (56 - 8 * index))
    case 8..<16: UInt8(truncatingIfNeeded: second >> (56 - 8 * (index - 8)))
    default: UInt8(truncatingIfNeeded: third >> (24 - 8 * (index - 16)))
    }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Compares the words. They hold the bytes from the top and end in zeros, so it is by the bytes.
  package static func < (a: FileExtension, b: FileExtension) -> Bool {
    (a.first, a.second, a.third) < (b.first, b.second, b.third)
  }
}

/// Numbers for the few different extensions that a directory's entries have.
///
/// An extension has its number as long as an entry has the extension, so that a directory through
/// which many extensions pass does not use the numbers up.
///
/// - Complexity: O(1) for each operation, amortised.
struct ExtensionNumbers: Sendable {
  /// The number that no extension has.
  static let unused: UInt32 = 1 << 24 - 1

  private struct Row {
    var fileExtension: FileExtension
    /// The entries that have the extension.
    var useCount = 0
  }

  // By number; number 0 is no extension and is never given back.
  private var rows = [Row(fileExtension: .none)]
  private var numbers: [FileExtension: UInt32] = [:]
  private var freeNumbers: [UInt32] = []
  // Most directories have one extension, and comparing with the latest one saves the hashing.
  private var latest: UInt32 = 0

  /// The extension of a number.
  subscript(number: UInt32) -> FileExtension { rows[Int(number)].fileExtension }

  /// Returns the number of an extension, if an entry has it.
  func number(of fileExtension: FileExtension) -> UInt32? {
    if fileExtension == .none { return 0 }
    return self[latest] == fileExtension ? latest : numbers[fileExtension]
  }

  /// Counts one entry more of an extension and returns its number.
  mutating func use(_ fileExtension: FileExtension) -> UInt32 {
    let number = number(of: fileExtension) ?? add(fileExtension)
    rows[Int(number)].useCount += 1
    latest = number
    return number
  }

  /// Gives an extension a number. Freed numbers are used first.
  private mutating func add(_ fileExtension: FileExtension) -> UInt32 {
    let number = freeNumbers.popLast() ?? UInt32(rows.count)
    precondition(number < Self.unused, "entries have fewer than 2²⁴ extensions at once")
    if number == rows.count { rows.append(Row(fileExtension: .none)) }
    rows[Int(number)].fileExtension = fileExtension
    numbers[fileExtension] = number
    return number
  }

  /// Counts one entry less of an extension.
  mutating func endUse(of number: UInt32) {
    rows[Int(number)].useCount -= 1
    guard number != 0 && rows[Int(number)].useCount == 0 else { return }
    numbers[self[number]] = nil
    rows[Int(number)].fileExtension = .none
    freeNumbers.append(number)
  }
}
