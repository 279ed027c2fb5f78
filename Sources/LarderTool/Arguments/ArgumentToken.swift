/// One step through the command line.
enum ArgumentToken: Sendable {
  /// An argument without dashes, or any after `--`.
  case operand([UInt8])
  /// An option, with the bytes of its value if any were given.
  case option(Option, value: [UInt8]?)
  /// Something with dashes that no verb knows; the value after `=` is cut off.
  case unknown([UInt8])
}
