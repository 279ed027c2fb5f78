import Larder

/// What was given with an option, already read.
enum OptionValue: Sendable, Hashable {
  /// It was there.
  case flag
  /// A path, never empty.
  case file([UInt8])
  /// An extension, without its dot.
  case fileExtension(FileExtension)
  /// A size, never negative.
  case size(ByteCount)
  /// A length of time, never negative.
  case duration(TimeSpan)
  /// Never, or a length of time.
  case expiration(Expiration)
  /// A whole number, never negative.
  case count(Int)
  /// One of the words that the option declares.
  case choice(String)
}
