import Larder

/// Parts of a line before and after its separator.
private typealias Line = (name: String, value: String?)

/// The bytes are no entry of this module.
struct WrongEntry: Error {}

extension CacheKey {
  /// The key of one of the responses of a URL that vary.
  init(_ variant: Variant, of marker: Stored) {
    self.init(joining: [marker.key, marker.content.line] + variant.lines)
  }

  /// The key of a body that is an entry of its own.
  init(bodyOf key: String, id: UInt64) { self.init(joining: [key, "body", String(id, radix: 16)]) }
}

extension HTTPCache.Stored.Content {
  /// The last line before the head of the response.
  fileprivate var line: String {
    switch self {
    case .bytes(let bytes): "body \(bytes.count)"
    case .entry(let id, let byteCount): "body \(byteCount) \(String(id, radix: 16))"
    case .variants(let generation): "variants \(String(generation, radix: 16))"
    }
  }

  /// Reads the last line, and the body if it follows; nil if they are none.
  fileprivate init?(_ line: Line?, _ rest: ArraySlice<UInt8>) {
    let words = line?.value?.split(separator: " ") ?? []
    let id = words.last.flatMap { UInt64($0, radix: 16) }
    switch (line?.name, words.count, words.first?.number, id) {
    case ("body", 1, rest.count?, _): self = .bytes(Array(rest))
    case ("body", 2, let count?, let id?): self = .entry(id: id, byteCount: count)
    case ("variants", 1, _, let id?): self = .variants(generation: id)
    default: return nil
    }
  }
}

/// The form of a stored response in its file.
///
/// ```
/// GET http://example.org/a?b=c
/// vary accept-language: de
/// times 2023-11-14T22:13:20Z 2023-11-14T22:13:20.250000000Z
/// body 5
///
/// HTTP/1.1 200
/// Content-Type: text/plain
///
/// hello
/// ```
///
/// A body over 16 KiB is an entry of its own, and `body 1048576 9a3f…` names it. A line
/// `outdated TIME` is written by ``HTTPCache/expire(_:)``. A marker has the names of the fields by
/// which responses vary, without values, and `variants 9a3f…` in place of `body`.
extension Coder<Stored> {
  static let entry = Coder(encode: encode, decode: decode)

  private static func encode(_ stored: Stored) -> [UInt8] {
    let vary = stored.variant.lines.map { "vary \($0)\n" }.joined()
    let outdated = stored.outdated.map { "outdated \($0.rfc3339)\n" } ?? ""
    let head = """
      \(stored.key)\n\(vary)times \(stored.sent.rfc3339) \(stored.received.rfc3339)
      \(outdated)\(stored.content.line)\n
      HTTP/1.1 \(stored.status)\r
      \(stored.fields.map { "\($0.name): \($0.value)\r\n" }.joined())\r\n
      """
    guard case .bytes(let body) = stored.content else { return Array(head.utf8) }
    return Array(head.utf8) + body
  }

  private static func decode(_ bytes: [UInt8]) throws -> Stored {
    var rest = bytes[...]
    let facts = try head(&rest, " ")
    let response = try head(&rest, ": ")
    func times(_ name: String) -> [Timestamp] {
      let words = facts.first { $0.name == name }?.value?.split(separator: " ") ?? []
      return words.compactMap(Timestamp.init(rfc3339:))
    }
    let fields = Fields(response.dropFirst().map { ($0.name, $0.value ?? "\0") })
    let variant = facts.filter { $0.name == "vary" }.map { $0.value ?? "" }
    let (moments, status) = (times("times"), response.first?.name.dropFirst(9).number ?? 0)
    guard let url = facts.first, url.name == "GET", moments.count == 2, fields.areValid,
      (200...599).contains(status), let content = Stored.Content(facts.last, rest)
    else { throw WrongEntry() }
    return Stored(
      status: status, fields: fields, key: "GET \(url.value ?? "")",
      variant: Variant(lines: variant), sent: moments[0], received: moments[1], content: content,
      outdated: times("outdated").first)
  }

  /// Takes the lines up to an empty one, as what stands before and after the first separator.
  private static func head(_ rest: inout ArraySlice<UInt8>, _ separator: String) throws -> [Line] {
    var lines: [Line] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      var line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.isEmpty { return lines }
      guard let text = String(validating: line, as: UTF8.self) else { break }
      lines.append(text.split(at: separator))
    }
    throw WrongEntry()
  }
}

/// The fields of a request by which its response was chosen. Source: RFC 9111, 4.1.
struct Variant: Sendable, Hashable {
  /// Names in lower case and in order, without repetition, each with its value in a normal form;
  /// without one for a field that the request has not.
  let lines: [String]

  var names: [String] { lines.map { $0.split(at: ":").name } }

  init(lines: [String]) { self.lines = lines }

  /// Creates the variant that a request asks for, of those that differ by some fields.
  ///
  /// Space and the division into lines do not count, nor does the case of languages.
  init(names: [String], of request: Request) {
    lines = names.map { name in
      guard let value = request.fields[name] else { return name }
      let text = Fields.members(of: value).joined(separator: ",")
      return "\(name): \(name == "accept-language" ? text.lowercased() : text)"
    }
  }

  /// Whether a request asks for this variant, of those that differ by the same fields.
  func fits(_ request: Request) -> Bool { Variant(names: names, of: request) == self }

  /// Creates the variant to which a response belongs; nil if no request matches, because `Vary` has
  /// `*` or what is no name.
  init?(of response: Fields, to request: Request) {
    let names = Set(response.members(of: "vary").map { $0.lowercased() })
    guard !names.contains("*"), names.allSatisfy(\.isToken) else { return nil }
    self.init(names: names.sorted(), of: request)
  }
}
