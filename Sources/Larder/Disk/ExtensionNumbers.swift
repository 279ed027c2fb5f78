/// Numbers for the few different extensions that a directory's entries have.
struct ExtensionNumbers: Sendable {
  private var extensions: [FileExtension] = [.none]
  private var numbers: [FileExtension: UInt16] = [.none: 0]

  subscript(number: UInt16) -> FileExtension { extensions[Int(number)] }

  /// The number of an extension, if it has one.
  func knownNumber(of fileExtension: FileExtension) -> UInt16? {
    fileExtension == .none ? 0 : numbers[fileExtension]
  }

  /// The number of an extension, a new one if needed; nil when there are no more.
  mutating func number(of fileExtension: FileExtension) -> UInt16? {
    if let number = knownNumber(of: fileExtension) { return number }
    guard extensions.count < Int(UInt16.max) else { return nil }
    let number = UInt16(extensions.count)
    extensions.append(fileExtension)
    numbers[fileExtension] = number
    return number
  }
}
