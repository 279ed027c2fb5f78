import Larder

extension Expiration {
  /// What may follow `--expires`, for help texts and errors.
  static let accepted = "\(TimeSpan.accepted), or say never"

  /// Reads a length of time, or the word `never`.
  init(parsing bytes: some Collection<UInt8>) throws(ValueError) {
    if bytes.elementsEqual("never".utf8) {
      self = .never
    } else {
      self = .seconds(try TimeSpan(parsing: bytes).seconds)
    }
  }
}
