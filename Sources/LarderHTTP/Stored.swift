public import Larder
import LarderSystem

extension HTTPCache {
  /// A response as it is stored, with what its age and freshness follow from.
  public struct Stored: Sendable {
    /// The place of a body.
    enum Content: Sendable, Equatable {
      case bytes([UInt8])
      /// An entry of its own, whose key ends in a random number.
      case entry(id: UInt64, byteCount: Int)
      /// None: this is a marker, which says by which fields the responses of the URL vary. The
      /// random number is in their keys, so that without the marker none of them is found.
      case variants(generation: UInt64)
    }

    /// The status.
    public let status: Int
    /// The fields that go to every client, without those of one connection.
    public private(set) var fields: Fields
    /// The time at which the request was sent to the origin.
    public let sent: Timestamp
    /// The time at which the head of the response came.
    public let received: Timestamp
    /// The URL of the request.
    let url: String
    /// The fields of the request that `Vary` names; values are nil for fields that it had not.
    let variant: Variant
    var content = Content.bytes([])
    /// The time of the last demand to validate whatever was stored before it.
    var outdated: Timestamp?

    // Read from the fields once, because every use of the response asks for them.
    private let control: Directives
    private let targeted: [String: Directives]
    let date: Int64
    private let age: Int
    /// The time in `Expires`, or that of the response if there is none in it.
    private let expires: Int64?
    let lastModified: Int64?

    init(
      status: Int, fields: Fields, url: String, variant: Variant, sent: Timestamp,
      received: Timestamp
    ) {
      (self.status, self.fields, self.url, self.variant) = (status, fields, url, variant)
      (self.sent, self.received) = (sent, received)
      control = fields["cache-control"].map(Directives.init) ?? Directives()
      let names = Set(fields.map { $0.name.lowercased() }.filter { $0.hasSuffix("-control") })
      targeted = Dictionary(uniqueKeysWithValues: names.map { ($0, fields[$0] ?? "") })
        .compactMapValues(Directives.init(targeted:))
      func seconds(_ text: String) -> Int64? { HTTPDate.seconds(text, at: received.seconds) }
      let date = fields["date"].flatMap(seconds) ?? received.seconds
      self.date = date
      // The first of a list counts, and what is no number does not. Source: RFC 9111, 5.1.
      age = fields.members(of: "age").first?.deltaSeconds ?? 0
      // Several that differ are stale.
      let ends = Set(fields.values(of: "expires").map { seconds($0) ?? date })
      expires = ends.count > 1 ? date : ends.first
      lastModified = fields["last-modified"].flatMap(seconds)
    }

    var byteCount: Int {
      switch content {
      case .bytes(let bytes): bytes.count
      case .entry(_, let byteCount): byteCount
      case .variants: 0
      }
    }
  }
}

extension HTTPCache.Stored {
  /// Returns the age in whole seconds. Source: RFC 9111, 4.2.3.
  public func age(at now: Timestamp) -> Int {
    let apparent = received.seconds - date
    let corrected = Int64(age) + received.seconds(since: sent)
    return Int(min(max(apparent, corrected), 1 << 40) + min(now.seconds(since: received), 1 << 40))
  }

  /// Returns the directives that rule this response, and whether Expires counts: those of the first
  /// targeted field that is valid, or else those of Cache-Control. Source: RFC 9213, 2.2.
  func rules(_ policy: HTTPCache.Policy) -> (directives: Directives, useExpires: Bool) {
    for name in policy.targetedFields {
      if let own = targeted[name.lowercased()] { return (own, false) }
    }
    return (control, true)
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
  static let heuristicStatuses: Set<Int> = [
    200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
  ]

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
  var validators: HTTPCache.Fields {
    var conditions: HTTPCache.Fields = [:]
    guard (200..<300).contains(status) else { return conditions }
    if let tag = fields["etag"], !tag.isEmpty { conditions.append("If-None-Match", tag) }
    if lastModified != nil, let date = fields["last-modified"] {
      conditions.append("If-Modified-Since", date)
    }
    return conditions
  }

  /// Whether both have the same validators and length, as far as a response without a body says.
  ///
  /// Source: RFC 9111, 4.3.5.
  func isConfirmed(by newer: HTTPCache.Fields) -> Bool {
    newer["etag"] ?? fields["etag"] == fields["etag"]
      && newer["last-modified"] ?? fields["last-modified"] == fields["last-modified"]
      && newer["content-length"] ?? "\(byteCount)" == "\(byteCount)"
  }

  /// Returns the fields with those of a newer response in place of older ones.
  ///
  /// The length, the coding and the range stay, because the stored bytes do. Age goes, because it
  /// was the older response's. Source: RFC 9111, 3.2.
  func fields(updatedBy newer: HTTPCache.Fields) -> HTTPCache.Fields {
    let added = newer.removing(["content-length", "content-encoding", "content-range"])
    let kept = fields.removing(["age"] + added.map(\.name))
    return HTTPCache.Fields((Array(kept) + added).map { ($0.name, $0.value) })
  }

  var isMarker: Bool { if case .variants = content { true } else { false } }

  /// A new marker for this response and others that vary by the same fields.
  var marker: Self {
    let names = Variant(names: variant.names, values: variant.names.map { _ in nil })
    var marker = Self(
      status: 300, fields: [:], url: url, variant: names, sent: sent, received: received)
    marker.content = .variants(generation: .random(in: .min ... .max))
    return marker
  }

  /// Returns the same response with its body, whose length its fields then tell.
  func with(_ content: Content) -> Self {
    var copy = self
    copy.content = content
    if status != 204, !fields.contains("content-length") {
      copy.fields.append("Content-Length", "\(copy.byteCount)")
    }
    return copy
  }
}

extension Timestamp {
  /// Returns the whole seconds since a time; 0 if it is later, so that a clock that was set back
  /// makes no negative age.
  fileprivate func seconds(since other: Timestamp) -> Int64 {
    max(0, seconds - other.seconds - (nanoseconds < other.nanoseconds ? 1 : 0))
  }
}

/// The fields of a request by which its response was chosen. Source: RFC 9111, 4.1.
struct Variant: Sendable, Hashable {
  /// Names in lower case and in order, without repetition.
  let names: [String]
  /// The values in a normal form; nil for a field that the request has not.
  let values: [String?]

  static let only = Variant(names: [], values: [])

  /// Returns the names in a response's `Vary`; nil if no request matches, because it has `*` or
  /// what is no name.
  static func names(in response: HTTPCache.Fields) -> [String]? {
    let names = Set(response.members(of: "vary").map { $0.lowercased() })
    return names.contains("*") || !names.allSatisfy(\.isToken) ? nil : names.sorted()
  }
}

extension Variant {
  /// Creates the variant that a request asks for, of those that differ by some fields.
  ///
  /// Space and the division into lines do not count, nor does the case of languages.
  init(names: [String], of request: HTTPCache.Request) {
    self.names = names
    values = names.map { name in
      let value = request.fields[name].map(HTTPCache.Fields.members)?.joined(separator: ",")
      return name == "accept-language" ? value?.lowercased() : value
    }
  }
}
