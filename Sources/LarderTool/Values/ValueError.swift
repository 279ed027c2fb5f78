/// Why the text of a value cannot be taken: one sentence that quotes it and says what would do.
struct ValueError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The sentence, without a full stop.
  let description: String

  /// Creates the sentence from the text, what is wrong with it, and what is accepted.
  init(_ value: some Collection<UInt8>, _ problem: String, accepted: String) {
    description = "\(value.quotedForDisplay) \(problem); \(accepted)"
  }

  /// Says of a text that holds no number why it does not.
  static func notANumber(_ value: some Collection<UInt8>, accepted: String) -> ValueError {
    switch value.first {
    case nil: ValueError(value, "is empty", accepted: accepted)
    case UInt8(ascii: "-"): ValueError(value, "is negative", accepted: accepted)
    default: ValueError(value, "is not a number", accepted: accepted)
    }
  }
}
