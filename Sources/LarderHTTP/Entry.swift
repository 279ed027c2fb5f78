import Larder
import LarderBasics
import LarderSystem

/// What a file of the cache holds: a response, or the names by which the responses of a URL vary.
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
/// `outdated TIME` is written by ``HTTPCache/expire(_:)``. A marker has the lines `varies-by`,
/// `generation` and perhaps `outdated` in place of the rest.
enum Entry: Sendable {
  case response(HTTPCache.Stored)
  case marker(Marker)

  /// The time of the last demand to validate whatever was stored before it.
  var outdated: Timestamp? {
    get {
      switch self {
      case .response(let stored): stored.outdated
      case .marker(let marker): marker.outdated
      }
    }
    set {
      switch self {
      case .response(var stored):
        stored.outdated = newValue
        self = .response(stored)
      case .marker(var marker):
        marker.outdated = newValue
        self = .marker(marker)
      }
    }
  }

  /// The largest body that lies behind its head in one file.
  static let largestInlineBody = 16 << 10
  /// The largest head of a response, in bytes.
  static let largestHead = 64 << 10
}

/// The names of the fields by which the responses of a URL vary.
struct Marker: Sendable, Equatable {
  let url: String
  let names: [String]
  /// A random number in the keys of the responses. Without the marker none of them is found.
  let generation: UInt64
  /// The time of the last demand to validate whatever was stored before it.
  var outdated: Timestamp?
}

/// The bytes are no entry of this module.
struct WrongEntry: Error {}

extension CacheKey {
  /// The key of a URL's response, or of the marker of its responses.
  init(url: String) { self.init("GET \(url)") }

  init(_ variant: Variant, of marker: Marker) {
    let values = variant.values.map { $0.map { "=\($0)" } ?? "-" }
    self.init(
      joining: ["GET \(marker.url)", "variant", String(marker.generation, radix: 16)] + values)
  }

  init(bodyOf url: String, id: UInt64) {
    self.init(joining: ["GET \(url)", "body", String(id, radix: 16)])
  }
}

extension Coder<Entry> {
  static let entry = Coder(encode: encode, decode: decode)

  private static func encode(_ entry: Entry) -> [UInt8] {
    switch entry {
    case .marker(let marker):
      let generation = String(marker.generation, radix: 16)
      let head = "GET \(marker.url)\nvaries-by \(marker.names.joined(separator: " "))\n"
      return Array("\(head)generation \(generation)\n\(line(marker.outdated))\n".utf8)
    case .response(let stored):
      let variant = zip(stored.variant.names, stored.variant.values).map { name, value in
        "vary \(name)\(value.map { ": \($0)" } ?? "")\n"
      }
      var (body, place): ([UInt8], String) = ([], "\(stored.byteCount)")
      switch stored.content {
      case .bytes(let bytes): body = bytes
      case .entry(let id, _): place += " \(String(id, radix: 16))"
      }
      return Array(
        """
        GET \(stored.url)\n\(variant.joined())times \(stored.sent.decimal) \
        \(stored.received.decimal)\n\(line(stored.outdated))body \(place)\n
        HTTP/1.1 \(stored.status)\r
        \(stored.fields.map { "\($0.name): \($0.value)\r\n" }.joined())\r\n
        """.utf8) + body
    }
  }

  private static func line(_ outdated: Timestamp?) -> String {
    outdated.map { "outdated \($0.decimal)\n" } ?? ""
  }

  private static func decode(_ bytes: [UInt8]) throws -> Entry {
    var rest = bytes[...]
    let lines = try head(&rest).map { $0.split(at: " ") }
    func value(_ name: String) -> String? { lines.first { $0.name == name }.flatMap(\.value) }
    func words(_ name: String) -> [Substring] { value(name)?.split(separator: " ") ?? [] }
    guard let url = value("GET") else { throw WrongEntry() }
    let outdated = value("outdated").flatMap(Timestamp.init(decimal:))
    if let generation = value("generation") {
      guard let generation = UInt64(generation, radix: 16) else { throw WrongEntry() }
      let names = words("varies-by").map(String.init)
      return .marker(Marker(url: url, names: names, generation: generation, outdated: outdated))
    }
    let response = try head(&rest)
    let pairs = response.dropFirst().map { $0.split(at: ": ") }
    let fields = HTTPCache.Fields(pairs.map { ($0.name, $0.value ?? "\0") })
    let (times, place) = (words("times").compactMap(Timestamp.init(decimal:)), words("body"))
    guard times.count == 2, let byteCount = place.first?.number, fields.areValid,
      let status = response.first.flatMap({ Int($0.dropFirst(9)) }), (200...599).contains(status)
    else { throw WrongEntry() }
    let variant = lines.filter { $0.name == "vary" }.map { ($0.value ?? "")[...].split(at: ": ") }
    var stored = HTTPCache.Stored(
      status: status, fields: fields, url: url,
      variant: Variant(names: variant.map(\.name), values: variant.map(\.value)), sent: times[0],
      received: times[1])
    stored.outdated = outdated
    if place.count == 2, let id = UInt64(place[1], radix: 16), rest.isEmpty {
      stored.content = .entry(id: id, byteCount: byteCount)
    } else if place.count == 1, rest.count == byteCount {
      stored.content = .bytes(Array(rest))
    } else {
      throw WrongEntry()
    }
    return .response(stored)
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
