import Foundation

/// The outcome of a run of the command.
struct Outcome {
  let status: Int32
  /// The bytes on stdout.
  let output: Data
  /// The text on stderr.
  let talk: String

  /// The text on stdout.
  var text: String { String(decoding: output, as: UTF8.self) }

  /// The object on stdout; nil if there is none.
  var json: [String: Any]? {
    get throws { try JSONSerialization.jsonObject(with: output) as? [String: Any] }
  }
}
