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
  /// The key of a URL's response, or of the marker of its responses.
  init(url: String) { self.init("GET \(url)") }

  /// The key of one of the responses of a URL that vary.
  init(_ variant: Variant, of marker: HTTPCache.Stored) {
    let values = variant.values.map { $0.map { "=\($0)" } ?? "-" }
    self.init(joining: ["GET \(marker.url)", marker.content.line] + values)
  }

  init(bodyOf url: String, id: UInt64) {
    self.init(joining: ["GET \(url)", "body", String(id, radix: 16)])
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
}

extension Coder<HTTPCache.Stored> {
  static let entry = Coder(encode: encode, decode: decode)

  private static func encode(_ stored: HTTPCache.Stored) -> [UInt8] {
    let variant = zip(stored.variant.names, stored.variant.values).map { name, value in
      "vary \(name)\(value.map { ": \($0)" } ?? "")\n"
    }
    var body: [UInt8] = []
    if case .bytes(let bytes) = stored.content { body = bytes }
    let outdated = stored.outdated.map { "outdated \($0.decimal)\n" } ?? ""
    return Array(
      """
      GET \(stored.url)\n\(variant.joined())times \(stored.sent.decimal) \
      \(stored.received.decimal)\n\(outdated)\(stored.content.line)\n
      HTTP/1.1 \(stored.status)\r
      \(stored.fields.map { "\($0.name): \($0.value)\r\n" }.joined())\r\n
      """.utf8) + body
  }

  private static func decode(_ bytes: [UInt8]) throws -> HTTPCache.Stored {
    var rest = bytes[...]
    let lines = try head(&rest).map { $0.split(at: " ") }
    let response = try head(&rest)
    func value(_ name: String) -> String? { lines.first { $0.name == name }.flatMap(\.value) }
    func words(_ name: String) -> [Substring] { value(name)?.split(separator: " ") ?? [] }
    let pairs = response.dropFirst().map { $0.split(at: ": ") }
    let fields = HTTPCache.Fields(pairs.map { ($0.name, $0.value ?? "\0") })
    let times = words("times").compactMap(Timestamp.init(decimal:))
    guard let url = value("GET"), times.count == 2, fields.areValid,
      let status = response.first.flatMap({ Int($0.dropFirst(9)) }), (200...599).contains(status)
    else { throw WrongEntry() }
    let variant = lines.filter { $0.name == "vary" }.map { ($0.value ?? "")[...].split(at: ": ") }
    var stored = HTTPCache.Stored(
      status: status, fields: fields, url: url,
      variant: Variant(names: variant.map(\.name), values: variant.map(\.value)), sent: times[0],
      received: times[1])
    stored.outdated = value("outdated").flatMap(Timestamp.init(decimal:))
    let (place, id) = (words("body"), words("body").dropFirst().first ?? words("variants").first)
    switch (place.first?.number, id.flatMap { UInt64($0, radix: 16) }) {
    case (let count?, nil) where place.count == 1 && rest.count == count:
      stored.content = .bytes(Array(rest))
    case (let count?, let id?) where rest.isEmpty:
      stored.content = .entry(id: id, byteCount: count)
    case (nil, let id?) where rest.isEmpty: stored.content = .variants(generation: id)
    default: throw WrongEntry()
    }
    return stored
  }

  /// Takes the lines up to an empty one.
  private static func head(_ rest: inout ArraySlice<UInt8>) throws -> [Substring] {
    var lines: [Substring] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      var line = rest[..<end]
      rest = rest[(end + 1)...]
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.isEmpty { return lines }
      guard let text = String(validating: line, as: UTF8.self) else { break }
      lines.append(text[...])
    }
    throw WrongEntry()
  }
}

extension Substring {
  /// Splits at the first occurrence of some bytes, because a character may be more than one of
  /// them. Without one, the name is the whole.
  fileprivate func split(at separator: String) -> (name: String, value: String?) {
    guard let place = utf8.firstRange(of: separator.utf8) else { return (String(self), nil) }
    return (String(self[..<place.lowerBound]), String(self[place.upperBound...]))
  }
}

extension Timestamp {
  /// Seconds, a dot and nine digits.
  fileprivate var decimal: String { "\(seconds).\("\(1_000_000_000 + nanoseconds)".dropFirst())" }

  fileprivate init?(decimal text: some StringProtocol) {
    let parts = text.split(separator: ".")
    // Bounded, so that no arithmetic with times from a file goes beyond its range.
    guard parts.count == 2, let seconds = parts[0].number, seconds <= 1 << 40,
      parts[1].utf8.count == 9, let nanoseconds = parts[1].number
    else { return nil }
    self.init(seconds: Int64(seconds), nanoseconds: Int64(nanoseconds))
  }
}
