extension HTTPCache {
  /// The fields of a message in their order. Names are looked up without regard to case.
  public struct Fields: Sendable, Hashable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
    /// A name and a value.
    public struct Field: Sendable, Hashable {
      /// The name as it came.
      public let name: String
      /// The value without the space around it.
      public let value: String
    }

    private var all: [Field]

    private init(all: [Field]) { self.all = all }

    /// Creates fields from names and values.
    public init(_ pairs: [(String, String)]) {
      all = pairs.map { Field(name: $0, value: String(Substring($1).trimmed)) }
    }

    /// Creates fields from names and values, which may repeat a name.
    public init(dictionaryLiteral pairs: (String, String)...) { self.init(pairs) }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of fields.
    public var endIndex: Int { all.count }
    /// The field at a position.
    public subscript(position: Int) -> Field { all[position] }

    /// Adds a field at the end.
    public mutating func append(_ name: String, _ value: String) { self = adding([name: value]) }

    /// Puts one field in place of every field with a name.
    public mutating func set(_ name: String, _ value: String) {
      self = removing([name]).adding([name: value])
    }

    /// Returns the fields without those with some names.
    public func removing(_ names: [String]) -> Self {
      Self(all: all.filter { !names.contains(where: $0.name.equalsIgnoringCase) })
    }

    func adding(_ others: Self) -> Self { others.isEmpty ? self : Self(all: all + others.all) }

    /// The values of every field with a name, in their order.
    public func values(of name: String) -> [String] {
      all.compactMap { $0.name.equalsIgnoringCase(name) ? $0.value : nil }
    }

    /// The values of every field with a name, joined by `", "`, or nil. Source: RFC 9110, 5.3.
    public subscript(name: String) -> String? {
      let values = values(of: name)
      return values.count > 1 ? values.joined(separator: ", ") : values.first
    }

    func contains(_ name: String) -> Bool { all.contains { $0.name.equalsIgnoringCase(name) } }

    /// The elements of the list in every field with a name.
    func members(of name: String) -> [String] { self[name].map { Self.members(of: $0) } ?? [] }

    /// The elements of a list, without the space around them. Commas in quotes do not separate. In
    /// quotes a backslash escapes what follows, but not in entity tags.
    static func members(of list: String, hasEscapes: Bool = true) -> [String] {
      if list.isEmpty { return [] }
      var (isQuoted, isEscaped) = (false, false)
      let members = list.utf8.split { byte in
        defer { isEscaped = isQuoted && hasEscapes && !isEscaped && byte == 92 }
        if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
        return byte == UInt8(ascii: ",") && !isQuoted
      }
      // A quote that none closes quotes nothing, so that it hides no directive.
      return (isQuoted ? list.utf8.split(separator: UInt8(ascii: ",")) : members)
        .map { String(Substring($0).trimmed) }.filter { !$0.isEmpty }
    }

    /// The fields without those of one connection. Source: RFC 9110, 7.6.1; RFC 9111, 3.1. Host is
    /// one: the key has the authority, and what the origin makes by another Host would go to all.
    /// What rules is none, also if Connection names it.
    var endToEnd: Self {
      let named = Set(members(of: "connection").map { $0.lowercased() })
      let kept = removing(Self.hopByHop).all
      return Self(all: kept.filter { $0.name.isRule || !named.contains($0.name.lowercased()) })
    }

    static let hopByHop = [
      "connection", "host", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
      "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Whether names are tokens, no value has CR, LF or NUL, and all fit into 64 KiB. RFC 9110, 5.
    var areValid: Bool {
      allSatisfy { $0.name.isToken && !$0.value.utf8.contains { [0, 10, 13].contains($0) } }
        && reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 } <= 64 << 10
    }

    /// Returns the time in a field; nil if there is no date in it.
    func seconds(_ name: String, at now: Int64) -> Int64? {
      self[name].flatMap { HTTPDate.seconds($0, at: now) }
    }
  }
}

extension StringProtocol {
  /// An entity tag without its mark of weakness. Source: RFC 9110, 8.8.3.
  var opaqueTag: SubSequence { hasPrefix("W/") ? dropFirst(2) : self[...] }

  /// Whether two texts are the same but for the case of ASCII letters.
  func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) { $0.lowered == $1.lowered }
  }

  /// Whether the text is a token. Source: RFC 9110, 5.6.2.
  var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenSign) }

  /// Whether this names a field by which a response is judged.
  var isRule: Bool {
    ["age", "date", "expires", "vary"].contains(lowercased()) || lowercased().hasSuffix("-control")
  }

  /// Whether a space, a control character or what is not ASCII is in the text.
  var hasControls: Bool { utf8.contains { $0 <= 32 || $0 >= 127 } }

  /// The number that the text spells with digits alone, at most 2⁶²; nil for any other text.
  var number: Int? {
    isEmpty || !utf8.allSatisfy(\.isDigit) ? nil : Swift.min(Int(self) ?? .max, 1 << 62)
  }

  /// A number of seconds, at most 2³¹. Source: RFC 9111, 1.2.2.
  var deltaSeconds: Int? { number.map { Swift.min($0, 1 << 31) } }
}

extension String {
  /// The content of a quoted string; nil for any other text. Source: RFC 9110, 5.6.4.
  // Byte by byte, because a client chooses the length.
  var unquoted: String? {
    guard utf8.count > 1, utf8.first == 34, utf8.last == 34 else { return nil }
    var (content, isEscaped) = ([UInt8](), false)
    for byte in utf8.dropFirst().dropLast() {
      if byte == 34, !isEscaped { return nil }
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      if !isEscaped { content.append(byte) }
    }
    return isEscaped ? nil : String(decoding: content, as: UTF8.self)
  }

  /// Splits at the first occurrence of some bytes; without one, the name is the whole.
  func split(at separator: String) -> (name: String, value: String?) {
    guard let place = utf8.firstRange(of: separator.utf8) else { return (self, nil) }
    return (String(self[..<place.lowerBound]), String(self[place.upperBound...]))
  }
}

extension Substring {
  /// The text without spaces and tabs at both ends.
  var trimmed: Substring {
    let text = utf8.drop { $0 == 32 || $0 == 9 }
    return Substring(text.dropLast(text.reversed().prefix { $0 == 32 || $0 == 9 }.count))
  }
}

extension UInt8 {
  /// Whether the byte may be in a token; the usual ones first.
  var isTokenSign: Bool {
    (97...122).contains(lowered) || self == 45 || isDigit || "!#$%&'*+.^_`|~".utf8.contains(self)
  }

  /// The lower case of an ASCII letter, and any other byte as it is.
  var lowered: UInt8 { (65...90).contains(self) ? self | 32 : self }
}
