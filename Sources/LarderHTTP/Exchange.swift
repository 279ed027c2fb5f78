import Larder

/// A request with what it takes to answer it.
struct Exchange: Sendable {
  let request: HTTPCache.Request
  let url: String
  let policy: HTTPCache.Policy
  let forwarding: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response
}

/// A stored response whose body is at hand.
struct Usable: Sendable {
  let stored: HTTPCache.Stored
  let body: HTTPCache.Body
}

/// The response of the origin stands for a failure. Given to requests that waited for it.
struct OriginFailure: Error {}

/// What the origin is asked, and why.
struct Question: Sendable {
  let usable: Usable?
  let conditions: HTTPCache.Fields
  let reason: HTTPCache.Reason
  private let hasWaited: Bool

  init(
    _ usable: Usable?, _ conditions: HTTPCache.Fields, _ found: Found, _ exchange: Exchange,
    _ hasWaited: Bool
  ) {
    (self.usable, self.conditions, self.hasWaited) = (usable, conditions, hasWaited)
    let demand = exchange.request.control
    if usable == nil {
      reason = found.isOtherVariant ? .varyMiss : .uriMiss
    } else if demand.has("no-cache") || demand["max-age"] != nil || demand["min-fresh"] != nil {
      reason = .request
    } else {
      reason = .stale
    }
  }

  /// The parameters of `Cache-Status`. Source: RFC 9211, 2.
  func status(_ status: Int, isStored: Bool) -> String {
    "fwd=\(reason.rawValue); fwd-status=\(status)" + (isStored ? "; stored" : "")
      + (hasWaited ? "; collapsed=?0" : "")
  }
}

extension HTTPCache.Request {
  /// Whether others may wait for the response to this request, and this one for theirs.
  var mayWait: Bool {
    method == "GET" && !fields.contains("range") && !fields.contains("authorization")
      && !control.has("no-store")
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
  /// Whether the response says that the origin has failed. Source: RFC 5861, 4.
  var isFailure: Bool { status == 500 || (502...504).contains(status) }

  /// The length that the fields announce; nil for none.
  var announcedLength: Int? {
    let lengths = Set(fields["content-length"].map { HTTPCache.Fields.members(of: $0) } ?? [])
    return lengths.count == 1 ? lengths.first?.number : nil
  }

  /// Whether the head can be sent on and stored without changing the meaning of what follows it.
  func hasValidHead(for request: HTTPCache.Request) -> Bool {
    let isBodiless = request.method == "HEAD" || status == 304
    let hasLength = !isBodiless && fields.contains("content-length")
    return (200...999).contains(status) && fields.areValid
      && (!hasLength || announcedLength != nil)
  }

  /// Returns the response as it goes on, with a date. Source: RFC 9110, 6.6.1.
  func withoutHopByHop(at now: Timestamp) -> Self {
    var response = self
    response.fields = fields.withoutHopByHop
    if !response.fields.contains("date") {
      response.fields.append("Date", HTTPDate.text(now.seconds))
    }
    return response
  }
}
