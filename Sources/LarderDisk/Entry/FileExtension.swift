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

/// Numbers for the few different extensions that a directory's entries have.
///
/// An extension has its number as long as an entry has the extension, so that a directory through
/// which many extensions pass does not use the numbers up.
struct ExtensionNumbers: Sendable {
  /// The number that no extension has.
  static let unused = UInt16.max

  // By number; number 0 is no extension and is never given back.
  private var extensions: [FileExtension] = [.none]
  // By number: the entries that have the extension.
  private var useCounts: [UInt32] = [0]
  private var numbers: [FileExtension: UInt16] = [:]
  private var freeNumbers: [UInt16] = []
  // Most directories have one extension, and comparing with the latest one saves the hashing.
  private var latest: UInt16 = 0

  /// The extension of a number.
  subscript(number: UInt16) -> FileExtension { extensions[Int(number)] }

  /// Returns the number of an extension, if an entry has it.
  ///
  /// - Complexity: O(1).
  func number(of fileExtension: FileExtension) -> UInt16? {
    if fileExtension == .none { return 0 }
    if extensions[Int(latest)] == fileExtension { return latest }
    return numbers[fileExtension]
  }

  /// Counts one entry more of an extension and returns its number; nil when all 65,534 are in use.
  ///
  /// - Complexity: O(1) amortised.
  mutating func use(_ fileExtension: FileExtension) -> UInt16? {
    guard let number = number(of: fileExtension) ?? add(fileExtension) else { return nil }
    useCounts[Int(number)] += 1
    latest = number
    return number
  }

  /// Gives an extension a number. Freed numbers are used first.
  private mutating func add(_ fileExtension: FileExtension) -> UInt16? {
    guard !freeNumbers.isEmpty || extensions.count < Int(Self.unused) else { return nil }
    let number = freeNumbers.popLast() ?? UInt16(extensions.count)
    if Int(number) == extensions.count {
      extensions.append(fileExtension)
      useCounts.append(0)
    } else {
      extensions[Int(number)] = fileExtension
    }
    numbers[fileExtension] = number
    return number
  }

  /// Counts one entry less of an extension.
  ///
  /// - Complexity: O(1).
  mutating func endUse(of number: UInt16) {
    useCounts[Int(number)] -= 1
    guard number != 0 && useCounts[Int(number)] == 0 else { return }
    numbers[extensions[Int(number)]] = nil
    extensions[Int(number)] = .none
    freeNumbers.append(number)
  }
}
