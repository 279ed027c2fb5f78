extension HTTPCache {
  /// A request, as a server has read it.
  public struct Request: Sendable {
    /// The method, whose case matters.
    public var method: String
    /// `http` or `https`.
    public var scheme: String
    /// The host, and the port unless it is the scheme's.
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
  }

  /// A response: of an origin to the cache, or of the cache to a client.
  public struct Response: Sendable {
    /// The status, from 200 to 999.
    public var status: Int
    /// The fields.
    public var fields: Fields
    /// The body; empty for HEAD, 204 and 304.
    public var body: Body

    /// Creates a response.
    public init(status: Int, fields: Fields = [:], body: Body = Body([])) {
      (self.status, self.fields, self.body) = (status, fields, body)
    }
  }
}

extension HTTPCache.Request {
  /// The directives of the request. Source: RFC 9111, 5.2.1 and 5.4.
  var control: Directives {
    if let field = fields["cache-control"] { return Directives(field) }
    let isForced = fields.members(of: "pragma").contains { $0.equalsIgnoringCase("no-cache") }
    return isForced ? Directives("no-cache") : Directives()
  }

  /// Returns the request to the origin, with conditions of the cache in place of the client's.
  func asking(_ conditions: HTTPCache.Fields) -> Self {
    var asked = self
    asked.fields = fields.withoutHopByHop
      .removing(["if-none-match", "if-modified-since", "if-range", "range"])
    for condition in conditions { asked.fields.append(condition.name, condition.value) }
    return asked
  }
}

extension HTTPCache.Response {
  /// The length that the fields announce; nil for none.
  var announcedLength: Int? {
    let lengths = Set(fields.members(of: "content-length"))
    return lengths.count == 1 ? lengths.first?.number : nil
  }

  /// Whether the head can be sent on and stored without changing the meaning of what follows it.
  func hasValidHead(for request: HTTPCache.Request) -> Bool {
    let isBodiless = request.method == "HEAD" || status == 304
    return (200...999).contains(status) && fields.areValid
      && (isBodiless || announcedLength != nil || !fields.contains("content-length"))
  }
}

/// An absolute URL of a request, with scheme and authority in lower case and no default port.
struct URLReference: Equatable {
  let origin: String
  let target: String

  var text: String { origin + target }

  init(_ request: HTTPCache.Request) {
    self.init("\(request.scheme)://\(request.authority)", request.target)
  }

  private init(_ origin: String, _ target: String) {
    let origin = origin.lowercased()
    let port = origin.hasPrefix("https:") ? ":443" : ":80"
    self.origin = origin.hasSuffix(port) ? String(origin.dropLast(port.count)) : origin
    self.target = target
  }

  /// Reads an absolute URL; nil for any other text.
  init?(_ text: String) {
    let text = text.prefix { $0 != "#" }
    guard let colon = text.firstRange(of: "://"), !text[..<colon.lowerBound].contains("/") else {
      return nil
    }
    let end = text[colon.upperBound...].firstIndex { "/?".contains($0) } ?? text.endIndex
    let path = text[end...]
    self.init(String(text[..<end]), path.hasPrefix("/") ? String(path) : "/\(path)")
  }

  /// Returns the URL that a reference in this URL's response means, if it has the same origin.
  ///
  /// Source: RFC 3986, 5.2; RFC 9111, 4.4.
  func resolving(_ reference: String) -> URLReference? {
    let reference = String(reference.prefix { $0 != "#" })
    if reference.hasPrefix("//") { return resolving("\(origin.prefix { $0 != "/" })\(reference)") }
    if let other = URLReference(reference) { return other.origin == origin ? other : nil }
    let path = target.prefix { $0 != "?" }
    if reference.isEmpty { return self }
    if reference.hasPrefix("?") { return URLReference(origin, "\(path)\(reference)") }
    let folder =
      reference.hasPrefix("/") ? "" : path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    return URLReference(origin, Self.removingDots("\(folder)\(reference)"))
  }

  /// Returns a path without `.` and `..`. Source: RFC 3986, 5.2.4.
  private static func removingDots(_ path: String) -> String {
    let query = path.firstIndex(of: "?") ?? path.endIndex
    var kept: [Substring] = []
    let parts = path[..<query].split(separator: "/", omittingEmptySubsequences: false)
    for part in parts.dropFirst() {
      if part == ".." { _ = kept.popLast() } else if part != "." { kept.append(part) }
    }
    if let last = parts.last, last == "." || last == ".." { kept.append("") }
    return "/\(kept.joined(separator: "/"))\(path[query...])"
  }
}
