import Larder
import LarderBasics
import LarderSystem

/// The form of a stored response in its file.
///
/// ```
/// GET http://example.org/a?b=c
/// vary accept-language: de
/// times 1700000000.000000000 1700000000.250000000
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
enum Entry {
  /// The largest body that lies behind its head in one file.
  static let largestInlineBody = 16 << 10
  /// The largest head of a response, in bytes.
  static let largestHead = 64 << 10
}

/// The bytes are no entry of this module.
struct WrongEntry: Error {}

extension CacheKey {
  /// The key of one of the responses of a URL that vary.
  init(_ variant: Variant, of marker: Stored) {
    let values = variant.values.map { $0.map { "=\($0)" } ?? "-" }
    self.init(joining: [marker.key, marker.content.line] + values)
  }

  /// The key of a body that is an entry of its own.
  init(bodyOf key: String, id: UInt64) { self.init(joining: [key, "body", String(id, radix: 16)]) }
}

extension HTTPCache.Stored {
  /// The key of the body; nil if that is no entry of its own.
  var bodyKey: CacheKey? {
    if case .entry(let id, _) = content { CacheKey(bodyOf: key, id: id) } else { nil }
  }
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
  fileprivate init?(_ line: (name: String, value: String?)?, _ rest: ArraySlice<UInt8>) {
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

extension Coder<Stored> {
  static let entry = Coder(encode: encode, decode: decode)

  private static func encode(_ stored: Stored) -> [UInt8] {
    let variant = zip(stored.variant.names, stored.variant.values).map { name, value in
      "vary \(name)\(value.map { ": \($0)" } ?? "")\n"
    }
    let outdated = stored.outdated.map { "outdated \($0.decimal)\n" } ?? ""
    let head = """
      \(stored.key)\n\(variant.joined())times \(stored.sent.decimal) \(stored.received.decimal)
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
      return words.compactMap(Timestamp.init(decimal:))
    }
    let fields = Fields(response.dropFirst().map { ($0.name, $0.value ?? "\0") })
    let variant = facts.filter { $0.name == "vary" }.map { ($0.value ?? "").split(at: ": ") }
    let (moments, status) = (times("times"), response.first?.name.dropFirst(9).number ?? 0)
    guard let url = facts.first, url.name == "GET", moments.count == 2, fields.areValid,
      (200...599).contains(status), let content = Stored.Content(facts.last, rest)
    else { throw WrongEntry() }
    return Stored(
      status: status, fields: fields, key: "GET \(url.value ?? "")",
      variant: Variant(names: variant.map(\.name), values: variant.map(\.value)), sent: moments[0],
      received: moments[1], content: content, outdated: times("outdated").first)
  }

  /// Takes the lines up to an empty one, as what stands before and after the first separator.
  private static func head(
    _ rest: inout ArraySlice<UInt8>, _ separator: String
  ) throws -> [(name: String, value: String?)] {
    var lines: [(String, String?)] = []
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

extension Timestamp {
  /// Seconds, a dot and nine digits.
  fileprivate var decimal: String { "\(seconds).\("\(1_000_000_000 + nanoseconds)".dropFirst())" }

  fileprivate init?(decimal text: Substring) {
    let parts = text.split(separator: ".")
    // Bounded, so that no arithmetic with times from a file goes beyond its range.
    guard parts.count == 2, let seconds = parts[0].number, seconds <= 1 << 40,
      parts[1].utf8.count == 9, let nanoseconds = parts[1].number
    else { return nil }
    self.init(seconds: Int64(seconds), nanoseconds: Int64(nanoseconds))
  }
}
