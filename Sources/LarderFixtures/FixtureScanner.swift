import LarderDisk

/// Takes a line of a manifest apart, from the left.
struct FixtureScanner {
  private var rest: Substring

  init(_ line: some StringProtocol) {
    rest = Substring(line)
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// What stands before the next space, which is passed over.
  mutating func word() -> Substring {
    let word = rest.prefix { $0 != " " }
    rest = rest.dropFirst(word.count + 1)
    return word
  }

  /// The value of a field of a name; nil when another field comes next.
  mutating func field(_ name: String) -> Substring? {
    guard rest.hasPrefix("\(name)=") else { return nil }
    return word().dropFirst(name.count + 1)
  }

  /// The bytes of a field of a name whose value stands in quotes.
  mutating func quotedField(_ name: String) -> [UInt8]? {
    guard rest.hasPrefix("\(name)=") else { return nil }
    rest = rest.dropFirst(name.count + 1)
    return quoted()
  }

  /// The key in quotes, its digest, or the sign that it is unknown.
  mutating func proof() -> KeyProof? {
    if rest.hasPrefix("\"") { return quoted().map { .key($0) } }
    let word = word()
    if word == "-" { return KeyProof.none }
    guard word.hasPrefix("#"), word.utf8.count == 33,
      let first = FixtureLine.word(word.dropFirst().prefix(16)),
      let second = FixtureLine.word(word.suffix(16))
    else { return nil }
    return .digest(first, second)
  }

  /// The bytes between two quotes, in which neither a quote nor a backslash stands for itself.
  private mutating func quoted() -> [UInt8]? {
    guard rest.popFirst() == "\"", let end = rest.firstIndex(of: "\"") else { return nil }
    let text = rest[..<end]
    rest = rest[rest.index(after: end)...]
    guard rest.isEmpty || rest.popFirst() == " " else { return nil }
    do throws(EscapedText.Malformed) {
      return try EscapedText.bytes(of: text)
    } catch {
      return nil
    }
  }
}
