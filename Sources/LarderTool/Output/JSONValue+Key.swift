import Larder

extension JSONValue {
  /// The members that show a key: `key` as text, and `key_base64` when it is not UTF-8.
  ///
  /// `key` is null for a key that is unknown (nil) or that no text can hold.
  static func keyMembers(_ key: [UInt8]?) -> [Member] {
    guard let key else { return [Member(name: "key", value: .null)] }
    if let text = String(validating: key, as: UTF8.self) {
      return [Member(name: "key", value: .string(text))]
    }
    return [
      Member(name: "key", value: .null),
      Member(name: "key_base64", value: .string(Base64.text(of: key))),
    ]
  }
}
