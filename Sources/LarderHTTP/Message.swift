extension HTTPCache {
  /// A request, as a server has read it.
  public struct Request: Sendable {
    /// The method, whose case matters.
    public var method: String
    /// `http` or `https`.
    public var scheme: String
    /// The host, and the port unless it is the scheme's. A field `Host` is not sent on.
    ///
    /// It is part of the key. If clients choose it freely, they fill the cache with copies.
    public var authority: String
    /// The path and the query, as they came.
    public var target: String
    /// The fields.
    public var fields: Fields
    /// Whether a body follows the head. The cache does not touch bodies of requests.
    public var hasBody: Bool

    /// Creates a request.
    public init(
      method: String = "GET", scheme: String = "http", authority: String, target: String,
      fields: Fields = [:], hasBody: Bool = false
    ) {
      (self.method, self.scheme, self.authority) = (method, scheme, authority)
      (self.target, self.fields, self.hasBody) = (target, fields, hasBody)
    }

    /// The URL by which ``HTTPCache/invalidate(_:)`` finds what was stored.
    public var url: String { URLReference(self).text }

    /// What names the response to GET: the first line of its file, and its key.
    var key: String { "GET \(url)" }

    /// The directives of the request. Source: RFC 9111, 5.2.1 and 5.4.
    var control: Directives {
      if let field = fields["cache-control"] { return Directives(field, isOfRequest: true) }
      let isForced = fields.members(of: "pragma").contains { $0.equalsIgnoringCase("no-cache") }
      return Directives(isForced ? "no-cache" : "", isOfRequest: true)
    }

    /// Whether the origin alone can answer: a body follows, a condition concerns its own state, or
    /// the URL would be that of another authority.
    var isForOrigin: Bool {
      hasBody || Self.preconditions.contains(where: fields.contains)
        || authority.utf8.contains { $0 == 47 || $0 > 126 }
    }
    private static let preconditions = ["if-match", "if-unmodified-since"]

    /// Whether this is GET, a file can name the URL, and the authority does not end in the path.
    var isPlain: Bool {
      method == "GET" && !authority.hasControls && !target.hasControls && !target.utf8.contains(35)
        && !authority.utf8.contains { [35, 47, 63, 64, 92].contains($0) }
    }

    /// Whether no line of the head ends elsewhere than the client means. Source: RFC 9110, 5.5.
    var isSound: Bool { fields.adding(["A": method + authority + target]).areValid }

    /// Whether the response concerns one user alone, or is not to be stored for this one.
    var isPersonal: Bool { fields.contains("authorization") || control.has("no-store") }

    /// Returns the request to the origin, with the cache's conditions, or else with the client's.
    func forwarded(_ conditions: Fields?) -> Self {
      let own = ["if-none-match", "if-modified-since", "if-range", "range"]
      var copy = self
      copy.fields = conditions.map { fields.endToEnd.removing(own).adding($0) } ?? fields.endToEnd
      return copy
    }
  }

  /// A response: of an origin to the cache, or of the cache to a client.
  public struct Response: Sendable {
    /// The status, from 200 to 999.
    public var status: Int
    /// The fields.
    public var fields: Fields {
      get { source.map { $0.fields.removing(["age"]).adding(own) } ?? own }
      set { (own, source) = (newValue, nil) }
    }
    /// The body; empty for HEAD, 204 and 304.
    public var body: Body
    /// All fields, or those besides the source's: the age, and what was done.
    var own: Fields
    /// The stored response that has the fields but for these.
    var source: Stored?

    /// Creates a response.
    public init(status: Int, fields: Fields = [:], body: Body = Body([])) {
      (self.status, own, self.body) = (status, fields, body)
    }

    /// Returns what a server makes of the fields, as of nothing else. Hits of one second share it.
    public func convertedFields<Other: Sendable>(_ convert: (Fields) -> Other) -> Other {
      let known = source?.converted.withLock { $0 }
      if let known, known.own == own, let other = known.fields as? Other { return other }
      let other = convert(fields)
      source?.converted.withLock { $0 = (own, other) }
      return other
    }

    /// Becomes a 502 if the head would change the meaning of what follows it when it is sent on or
    /// stored, or tells another length than that of the body. A stream is counted as it passes.
    mutating func check(hasBody: Bool) {
      let (count, told) = (body.byteCount, fields["content-length"].map { $0.number ?? -1 })
      let isGood = (!hasBody || count ?? told == told ?? count) && told != -1 && fields.areValid
      // A coding that is not undone would be taken for the content. Source: RFC 9112, 6.1.
      let isPlain = fields.members(of: "transfer-encoding").allSatisfy("chunked".equalsIgnoringCase)
      if !isGood || !isPlain || !(200...999).contains(status) { self = Self(status: 502) }
      if hasBody, body.stream != nil { body = Body(byteCount: told ?? count, body) }
    }

    /// The fields that describe a body.
    static let ofBody = ["length", "type", "encoding", "language", "range", "digest", "md5"]
      .map { "content-\($0)" }

    /// Becomes a 304 if the request's conditions say that the client has this response already. The
    /// date is that of a stored response, which counts if `Last-Modified` is missing.
    /// Source: RFC 9110, 13.2.2 and 15.4.5; RFC 9111, 4.3.2.
    mutating func meetConditions(of request: Request, at now: Int64, date: Int64 = .max) {
      let tags = request.fields["if-none-match"].map { Fields.members(of: $0, hasEscapes: false) }
      let own = tags == nil ? nil : fields["etag"]?.opaqueTag
      let since = tags == nil ? request.fields.seconds("if-modified-since", at: now) : nil
      let isSame = since.map { fields.seconds("last-modified", at: now) ?? date <= $0 } ?? false
      let isKnown = tags?.contains { $0 == "*" || $0.opaqueTag == own } ?? isSame
      guard isKnown, (200..<300).contains(status) else { return }
      self = Self(status: 304, fields: fields.removing(Self.ofBody))
    }
  }
}

/// An absolute URL of a request, with scheme and authority in lower case and no default port.
struct URLReference {
  let origin, target: String

  var text: String { origin + target }

  private init(_ origin: String, _ target: String) {
    let origin = origin.utf8.allSatisfy { $0 == $0.lowered } ? origin : origin.lowercased()
    let port = origin.hasPrefix("https:") ? ":443" : ":80"
    self.origin = origin.hasSuffix(port) ? String(origin.dropLast(port.count)) : origin
    self.target = target.hasPrefix("/") ? target : "/\(target)"
  }

  init(_ request: Request) { self.init("\(request.scheme)://\(request.authority)", request.target) }

  /// Reads an absolute URL without its fragment; nil for any other text.
  init?(_ text: String) {
    guard let url = text.wholeMatch(of: #/(?s)([^/?#]*://[^/?#]*)/?([^#]*)(#.*)?/#) else {
      return nil
    }
    self.init(String(url.1), "/\(url.2)")
  }

  /// Returns what a reference in the response means, if of the same origin. RFC 3986, 5; 9111, 4.4.
  func resolving(_ reference: String) -> URLReference? {
    let scheme = reference.hasPrefix("//") ? origin.prefix { $0 != "/" } : ""
    let other = URLReference(scheme + reference)
    if let other, other.origin != origin { return nil }
    let reference = (other?.target ?? reference).prefix { $0 != "#" }
    let path = target.prefix { $0 != "?" }
    let folder = path.dropLast(path.reversed().prefix { $0 != "/" }.count)
    let isQuery = reference.isEmpty || reference.hasPrefix("?")
    let whole = (reference.hasPrefix("/") ? "" : isQuery ? path : folder) + reference
    let end = whole.firstIndex(of: "?") ?? whole.endIndex
    let parts = whole[..<end].split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    // Source: RFC 3986, 5.2.4.
    var kept = parts.reduce(into: [] as [Substring]) {
      if $1 == ".." { _ = $0.popLast() } else if $1 != "." { $0.append($1) }
    }
    if [".", ".."].contains(parts.last) { kept.append("") }
    return URLReference(origin, "/\(kept.joined(separator: "/"))\(whole[end...])")
  }
}
