public import Larder
import LarderSystem

extension HTTPCache {
  /// A response as it is stored, with what its age and freshness follow from.
  // A class, because a hit hands it on ten times, and as a value it is as many references.
  public final class Stored: Sendable {
    /// The place of a body.
    enum Content: Sendable, Equatable {
      /// The largest body that lies behind its head in one file.
      static let largestInline = 16 << 10

      case bytes([UInt8])
      /// An entry of its own, whose key ends in a random number.
      case entry(id: UInt64, byteCount: Int)
      /// None: this is a marker, which says by which fields the responses of the URL vary. The
      /// random number is in their keys, so that without the marker none of them is found.
      case variants(generation: UInt64)

      var byteCount: Int {
        if case .entry(_, let byteCount) = self { return byteCount }
        if case .bytes(let bytes) = self { return bytes.count }
        return 0
      }
    }

    /// The status.
    public let status: Int
    /// The fields that go to every client, without those of one connection.
    public let fields: Fields
    /// The time at which the request was sent to the origin.
    public let sent: Timestamp
    /// The time at which the head of the response came.
    public let received: Timestamp
    /// `GET` and the URL of the request: the first line of the file, and the key.
    let key: String
    /// The fields of the request that `Vary` names; values are nil for fields that it had not.
    let variant: Variant
    let content: Content
    /// The key of the body; nil if that is no entry of its own.
    let bodyKey: CacheKey?
    /// The time of the last demand to validate whatever was stored before it.
    let outdated: Timestamp?

    // Read from the fields once, because every use of the response asks for them.
    private let control: Directives
    private let targeted: [String: Directives]
    private let age: Int
    let date: Int64
    /// The time in `Expires`, or that of the response if there is none in it.
    private let expires: Int64?
    let lastModified: Int64?
    /// What a server has made of the fields for the last age, which takes longer than all else.
    let converted = ForkSafeMutex<(own: Fields, fields: any Sendable)?>(nil)

    init(
      _ status: Int, _ fields: Fields, _ key: String, _ variant: Variant,
      _ times: (Timestamp, Timestamp), _ content: Content = .bytes([]), _ outdated: Timestamp? = nil
    ) {
      (self.status, self.fields, self.key, self.variant) = (status, fields, key, variant)
      ((sent, received), self.content, self.outdated) = (times, content, outdated)
      bodyKey = if case .entry(let id, _) = content { CacheKey(bodyOf: key, id: id) } else { nil }
      control = Directives(fields["cache-control"] ?? "")
      let names = Set(fields.map { $0.name.lowercased() }.filter { $0.hasSuffix("-control") })
      targeted = names.subtracting(["cache-control"])
        .reduce(into: [:]) { $0[$1] = Directives(targeted: fields[$1] ?? "") }
      let now = received.seconds
      let date = fields.seconds("date", at: now) ?? now
      (self.date, lastModified) = (date, fields.seconds("last-modified", at: now))
      // The first of a list counts, and what is no number does not. Source: RFC 9111, 5.1.
      age = fields.members(of: "age").first?.deltaSeconds ?? 0
      // Several that differ are stale.
      let ends = fields.values(of: "expires").map { HTTPDate.seconds($0, at: now) ?? date }
      expires = Set(ends).count > 1 ? date : ends.first
    }
  }
}

extension HTTPCache.Stored {
  var isMarker: Bool { if case .variants = content { true } else { false } }

  /// Returns the age in whole seconds. Source: RFC 9111, 4.2.3.
  public func age(at now: Timestamp) -> Int {
    // None is negative, if a clock was set back. Each sum is rounded down once.
    func span(_ start: Timestamp) -> Int64 { max(0, now.nanoseconds(since: start)) / 1_000_000_000 }
    let apparent = min(max(0, received.seconds - date), 1 << 40) + span(received)
    return Int(max(apparent, Int64(age) + span(sent)))
  }

  /// Returns the directives that rule this response, and whether Expires counts: those of the first
  /// targeted field that is valid, or else those of Cache-Control. Source: RFC 9213, 2.2.
  func rules(_ policy: HTTPCache.Policy) -> (directives: Directives, useExpires: Bool) {
    if targeted.isEmpty { return (control, true) }
    let own = policy.targetedFields.lazy.compactMap { self.targeted[$0.lowercased()] }.first
    return (own ?? control, own == nil)
  }

  /// Returns how long the response is fresh, and whether it says so. Source: RFC 9111, 4.2.1 f.
  func lifetime(_ policy: HTTPCache.Policy) -> (seconds: Int, isExplicit: Bool) {
    let (rules, useExpires) = rules(policy)
    let explicit = (policy.isShared ? rules["s-maxage"] : nil) ?? rules["max-age"]
    if let explicit { return (explicit, true) }
    if let expires, useExpires { return (Int(min(max(0, expires - date), 1 << 40)), true) }
    let mayGuess = Self.heuristicStatuses.contains(status) || rules.has("public")
    guard mayGuess, let lastModified else { return (0, false) }
    return (Int(min(max(0, date - lastModified) / 10, 86_400)), false)
  }

  /// Source: RFC 9110, 15.1.
  static let heuristicStatuses: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

  /// Returns for how many seconds the response has been stale, at the latest since the demand to
  /// validate it; at most 0 while it is fresh.
  func staleness(_ policy: HTTPCache.Policy, at now: Timestamp) -> Int {
    let staleness = age(at: now) - lifetime(policy).seconds
    return outdated.map { max(staleness, Int(now.seconds - $0.seconds)) } ?? staleness
  }

  /// Whether nothing demands to validate the response, and it was received before now: if the clock
  /// was set back, nothing becomes fresh again by that.
  func isTrusted(at now: Timestamp) -> Bool {
    received <= now && outdated.map { received > $0 } ?? true
  }

  /// The fields of a request that asks whether the response is still good; none if it has no
  /// validator. Source: RFC 9111, 4.3.1; RFC 9110, 13.2.1.
  var validators: Fields {
    guard (200..<300).contains(status) else { return [:] }
    let (tag, date) = (fields["etag"] ?? "", lastModified == nil ? nil : fields["last-modified"])
    let conditions = [("If-None-Match", tag), ("If-Modified-Since", date ?? "")]
    return Fields(conditions.filter { !$0.1.isEmpty })
  }

  /// Whether validators and length are the same, of which the newer tells one. RFC 9111, 4.3.5.
  func isConfirmed(by newer: Fields) -> Bool {
    ["etag", "last-modified", "content-length"].contains(where: newer.contains)
      && ["etag", "last-modified"].allSatisfy { newer[$0] ?? fields[$0] == fields[$0] }
      && newer["content-length"] ?? "\(content.byteCount)" == "\(content.byteCount)"
  }

  /// Whether the fields of a 304 are of this response. Another tag or, without one, another date is
  /// that of another one. A weak tag means the strong one too. Source: RFC 9111, 4.3.4.
  func isMeant(by newer: Fields, at now: Timestamp) -> Bool {
    let (own, date) = (fields["etag"] ?? "", lastModified)
    let isTag = newer["etag"].map { $0 == own || $0 == "W/\(own)" }
    return isTag ?? (newer.seconds("last-modified", at: now.seconds) ?? date == date)
  }

  /// Returns the fields with those of a newer response in place of older ones. Length, coding and
  /// range stay, as the stored bytes do. Age and Date go: they were the older one's. RFC 9111, 3.2.
  func fields(updatedBy newer: Fields) -> Fields {
    let own = ["content-length", "content-encoding", "content-range"] + Self.digests
    let added = newer.removing(own)
    return fields.removing(["age", "date"] + added.map(\.name)).adding(added)
  }

  /// What tells a hash of a message's own content, which that of a part or of a 304 is not.
  private static let digests = ["content-digest", "content-md5"]

  /// Returns the marker for this response and others that vary alike: the stored one, if theirs.
  func marker(besides stored: Stored?) -> Stored {
    if let stored, stored.isMarker, stored.variant.names == variant.names { return stored }
    let content = Content.variants(generation: .random(in: .min ... .max))
    return Stored(300, [:], key, Variant(lines: variant.names), (sent, received), content)
  }

  /// Returns the same response with its body, whose length its fields then tell, without some
  /// fields, or with the demand to validate it.
  func with(_ new: Content? = nil, minus: [String] = [], outdated at: Timestamp? = nil) -> Stored {
    var fields = fields.removing(minus)
    if let new, status != 204 { fields.set("Content-Length", "\(new.byteCount)") }
    return Stored(status, fields, key, variant, (sent, received), new ?? content, at ?? outdated)
  }

  /// Returns the response to a request that this response answers, without a body where it has
  /// none. Source: RFC 9111, 4; RFC 9110, 13.2.2 and 14.
  func response(to request: Request, _ body: Body, at now: Timestamp) -> Response {
    var answer = Response(status: status, body: body)
    (answer.source, answer.own) = (self, ["Age": "\(age(at: now))"])
    answer.meetConditions(of: request, at: now.seconds, date: date)
    if request.method == "HEAD" { answer.body = Body([]) }
    guard answer.status == 200, let range = requestedRange(of: request) else { return answer }
    (answer.status, answer.body) = (range.isEmpty ? 416 : 206, body.part(range))
    // What says how long the body is good says nothing of an error.
    let rules = ["age", "cache-control", "expires"] + targeted.keys
    answer.fields = answer.fields.removing(Self.digests + (range.isEmpty ? rules : []))
    answer.fields.set("Content-Length", "\(range.count)")
    let place = range.isEmpty ? "*" : "\(range.lowerBound)-\(range.upperBound - 1)"
    answer.fields.set("Content-Range", "bytes \(place)/\(content.byteCount)")
    return answer
  }

  /// Returns the place of the only range that a request asks for; nil if the whole body answers.
  /// An empty place means that no byte of the body is in it.
  private func requestedRange(of request: Request) -> Range<Int>? {
    guard request.method == "GET", let text = request.fields["range"]?.lowercased(),
      fulfils(request.fields["if-range"]),
      // Made here, because making it takes longer than all else.
      let ends = text.wholeMatch(of: #/bytes=([0-9]*)-([0-9]*)/#)
    else { return nil }
    let (count, last) = (content.byteCount, ends.2.number)
    guard let start = ends.1.number else { return last.map { max(0, count - $0)..<count } }
    if let last, last < start { return nil }
    return start >= count ? 0..<0 : start..<min((last ?? count) + 1, count)
  }

  /// Whether the condition of a range holds: a strong tag or a strong date, which is that of a
  /// change before the response was made. Source: RFC 9110, 8.8.2.2 and 13.1.5.
  private func fulfils(_ condition: String?) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("\"") { return condition == fields["etag"] }
    return condition == fields["last-modified"] && lastModified ?? .max < date
  }
}

/// Parts of a line before and after its separator.
private typealias Line = (name: String, value: String?)

struct WrongEntry: Error {}

extension CacheKey {
  /// The key of one of the responses of a URL that vary.
  init(_ variant: Variant, of marker: Stored) {
    self.init(joining: [marker.key, marker.content.line] + variant.lines)
  }

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

/// The form of a stored response in its file: lines that say whose it is, an empty line, and the
/// response as on the wire. A body over 16 KiB is an entry of its own: `body 1048576 9a3f…` names
/// it. A line `outdated TIME` is of ``HTTPCache/expire(_:)``. A marker has the names of the fields
/// by which responses vary, without values, and `variants 9a3f…` in place of `body`.
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
      status, fields, "GET \(url.value ?? "")", Variant(lines: variant), (moments[0], moments[1]),
      content, times("outdated").first)
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
  /// Its division into lines does not count, nor space in a list of what is accepted, nor the case
  /// of languages.
  init(names: [String], of request: Request) {
    lines = names.map { name in
      guard let value = request.fields[name] else { return name }
      let isList = name.hasPrefix("accept")
      let text = isList ? Fields.members(of: value).joined(separator: ",") : value
      return "\(name): \(name == "accept-language" ? text.lowercased() : text)"
    }
  }

  /// Whether a request asks for this variant, of those that differ by the same fields.
  func fits(_ request: Request) -> Bool { Variant(names: names, of: request) == self }

  /// Creates the variant to which a response belongs; nil if no request matches, because `Vary` has
  /// `*` or what is no name, or a value was not read: U+FFFD stands for any byte that is no UTF-8.
  /// Fields that are not sent on do not count.
  init?(of response: Fields, to request: Request) {
    let names = Set(response.members(of: "vary").map { $0.lowercased() })
    guard !names.contains("*"), names.allSatisfy(\.isToken) else { return nil }
    self.init(names: names.subtracting(Fields.hopByHop).sorted(), of: request)
    if lines.joined().unicodeScalars.contains("\u{FFFD}") { return nil }
  }
}

/// The dates of HTTP, as seconds since 1970. Source: RFC 9110, 5.6.7; RFC 9111, 4.2.
enum HTTPDate {
  static let days = "sunday monday tuesday wednesday thursday friday saturday".split { $0 == " " }
  private static let months = "jan feb mar apr may jun jul aug sep oct nov dec".split { $0 == " " }

  /// Returns the time that a text means in one of the three formats; nil for any other text.
  /// The case of letters does not matter. Another zone than GMT is no date.
  ///
  /// - Parameter now: The present, by which a year of two digits gets its century.
  static func seconds(_ text: String, at now: Int64) -> Int64? {
    let text = text.lowercased()
    let name = text.prefix { !", ".contains($0) }
    guard let day = days.first(where: { $0 == name || $0.prefix(3) == name }),
      let month = months.firstIndex(where: { text.contains($0) })
    else { return nil }
    // With a letter and a number in place of the month's name, a format says where each part is.
    let rest = text.dropFirst(name.count).replacing(months[month], with: "m\(101 + month)")
    var parts = rest.utf8.split { !$0.isDigit }.map { String(Substring($0)) }
    switch (String(decoding: rest.utf8.map { $0.isDigit ? 48 : $0 }, as: UTF8.self), day == name) {
    case (", 00 m000 0000 00:00:00 gmt", false): break
    case (", 00-m000-00 00:00:00 gmt", true):
      // What appears to be more than 50 years in the future is of the century before.
      let present = 1970 + now / 31_556_952
      let year = present / 100 * 100 + Int64(parts[2].number ?? 0)
      parts[2] = "\(year > present + 50 ? year - 100 : year)"
    case (" m000 00 00:00:00 0000", false), (" m000  0 00:00:00 0000", false):
      parts = [String("0\(parts[1])".suffix(2)), parts[0], parts[5]] + parts[2...4]
    default: return nil
    }
    // A leap second counts as the one before it.
    let time = "\(parts[3]):\(parts[4]):\(parts[5] == "60" ? "59" : parts[5])"
    return Timestamp(rfc3339: "\(parts[2])-\(parts[1].suffix(2))-\(parts[0])T\(time)Z")?.seconds
  }

  /// Returns a time as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ seconds: Int64) -> String {
    let time = Timestamp(seconds: min(max(seconds, 0), Timestamp.lastOfRFC3339.seconds))
    let date = time.dateText.split(separator: "-")
    let names = [days[Int(time.seconds / 86_400 + 4) % 7], months[(date[1].number ?? 1) - 1]]
      .map { $0.prefix(1).uppercased() + $0.dropFirst().prefix(2) }
    return "\(names[0]), \(date[2]) \(names[1]) \(date[0]) \(time.timeOfDayText) GMT"
  }
}
