import Larder

/// What was given with an option, already read.
enum OptionValue: Sendable, Hashable {
  case flag
  case file([UInt8])
  case fileExtension(ExtensionName)
  case size(ByteCount)
  case duration(TimeSpan)
  case expiration(Expiration)
  case count(Int)
  case choice(String)
}
