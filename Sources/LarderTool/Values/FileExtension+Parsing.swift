import Larder

extension FileExtension {
  /// What may follow `--ext`, for errors.
  static let accepted = "an extension is 1 to 20 ASCII letters or digits"

  /// Reads an extension, with or without the dot in front.
  init(parsing bytes: some Collection<UInt8>) throws(ValueError) {
    let text = bytes.first == UInt8(ascii: ".") ? bytes.dropFirst() : bytes[...]
    guard !text.isEmpty, let name = FileExtension(text) else {
      throw ValueError(bytes, "is no extension", accepted: Self.accepted)
    }
    self = name
  }
}
