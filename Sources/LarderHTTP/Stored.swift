public import Larder

extension HTTPCache {
  /// A response as it is stored, with what its age and freshness follow from.
  //
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
        switch self {
        case .bytes(let bytes): bytes.count
        case .entry(_, let byteCount): byteCount
        case .variants: 0
        }
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

    init(
      status: Int, fields: Fields, key: String, variant: Variant, sent: Timestamp,
      received: Timestamp, content: Content = .bytes([]), outdated: Timestamp? = nil
    ) {
      (self.status, self.fields, self.key, self.variant) = (status, fields, key, variant)
      (self.sent, self.received, self.content, self.outdated) = (sent, received, content, outdated)
      control = Directives(fields["cache-control"] ?? "")
      let names = Set(fields.map { $0.name.lowercased() }.filter { $0.hasSuffix("-control") })
      targeted = names.subtracting(["cache-control"])
        .reduce(into: [:]) { $0[$1] = Directives(targeted: fields[$1] ?? "") }
      let date = fields.seconds("date", at: received.seconds) ?? received.seconds
      self.date = date
      // The first of a list counts, and what is no number does not. Source: RFC 9111, 5.1.
      age = fields.members(of: "age").first?.deltaSeconds ?? 0
      // Several that differ are stale.
      let ends = fields.values(of: "expires")
        .map { HTTPDate.seconds($0, at: received.seconds) ?? date }
      expires = Set(ends).count > 1 ? date : ends.first
      lastModified = fields.seconds("last-modified", at: received.seconds)
    }
  }
}

extension HTTPCache.Stored {
  var isMarker: Bool { if case .variants = content { true } else { false } }

  /// The key of the body; nil if that is no entry of its own.
  var bodyKey: CacheKey? {
    if case .entry(let id, _) = content { CacheKey(bodyOf: key, id: id) } else { nil }
  }

  /// Returns the age in whole seconds. Source: RFC 9111, 4.2.3.
  public func age(at now: Timestamp) -> Int {
    // None is negative, if a clock was set back.
    func seconds(_ start: Timestamp, _ end: Timestamp) -> Int64 {
      max(0, end.nanoseconds(since: start)) / 1_000_000_000
    }
    let apparent = received.seconds - date
    let corrected = Int64(age) + seconds(sent, received)
    return Int(min(max(apparent, corrected), 1 << 40) + seconds(received, now))
  }

  /// Returns the directives that rule this response, and whether Expires counts: those of the first
  /// targeted field that is valid, or else those of Cache-Control. Source: RFC 9213, 2.2.
  func rules(_ policy: HTTPCache.Policy) -> (directives: Directives, useExpires: Bool) {
    let own = policy.targetedFields.lazy.compactMap { self.targeted[$0.lowercased()] }.first
    return (own ?? control, own == nil)
  }

  /// Returns the seconds for which the response is fresh, and whether it says so itself.
  ///
  /// Source: RFC 9111, 4.2.1 and 4.2.2.
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

  /// Returns for how many seconds the response has been stale; at most 0 while it is fresh.
  func staleness(_ policy: HTTPCache.Policy, at now: Timestamp) -> Int {
    age(at: now) - lifetime(policy).seconds
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

  /// Whether both have the same validators and length, as far as a response without a body says.
  ///
  /// Source: RFC 9111, 4.3.5.
  func isConfirmed(by newer: Fields) -> Bool {
    ["etag", "last-modified"].allSatisfy { newer[$0] ?? fields[$0] == fields[$0] }
      && newer["content-length"] ?? "\(content.byteCount)" == "\(content.byteCount)"
  }

  /// Returns the fields with those of a newer response in place of older ones.
  ///
  /// The length, the coding and the range stay, because the stored bytes do. Age and Date go,
  /// because they were the older response's. Source: RFC 9111, 3.2.
  func fields(updatedBy newer: Fields) -> Fields {
    let added = newer.removing(["content-length", "content-encoding", "content-range"])
    return fields.removing(["age", "date"] + added.map(\.name)).adding(added)
  }

  /// Returns a new marker for this response and others that vary by the same fields.
  func makeMarker() -> Stored {
    Stored(
      status: 300, fields: [:], key: key, variant: Variant(lines: variant.names), sent: sent,
      received: received, content: .variants(generation: .random(in: .min ... .max)))
  }

  /// Returns the same response with its body, whose length its fields then tell.
  func with(_ content: Content) -> Stored {
    var fields = fields
    if status != 204 { fields.set("Content-Length", "\(content.byteCount)") }
    return with(fields, content)
  }

  /// Returns the same response with other fields, or with the demand to validate it.
  func with(_ fields: Fields? = nil, _ body: Content? = nil, outdated: Timestamp? = nil) -> Stored {
    Stored(
      status: status, fields: fields ?? self.fields, key: key, variant: variant, sent: sent,
      received: received, content: body ?? content, outdated: outdated ?? self.outdated)
  }

  /// Returns the response to a request that this response answers, without a body where it has
  /// none. Source: RFC 9111, 4; RFC 9110, 13.2.2 and 14.
  ///
  /// - Parameter body: The whole body; of any length if the request is HEAD or a condition holds.
  func response(to request: Request, _ body: Body, at now: Timestamp) -> Response {
    var answer = Response(status: status, fields: fields, body: body)
    answer.fields.set("Age", "\(age(at: now))")
    answer.meetConditions(of: request)
    if request.method == "HEAD" { answer.body = Body([]) }
    guard answer.status == 200, let range = requestedRange(of: request) else { return answer }
    answer.status = range.isEmpty ? 416 : 206
    answer.body = body.part(range)
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
