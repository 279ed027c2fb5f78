import Larder

/// What `larder --version` says.
enum Version {
  /// The release, by the rules of semantic versioning.
  static let current = "0.1.0"
  /// The version of the directory's format that this release reads and writes.
  static let format = 1

  /// The line for people.
  static var line: String { "larder \(current) (directory format \(format))" }

  /// The object for scripts.
  static var json: JSONValue {
    ["schema": 1, "version": .string(current), "format": .integer(Int128(format))]
  }
}
