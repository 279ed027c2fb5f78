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
