public import Larder

extension HTTPCache {
  /// The decisions of a cache by RFC 9111, as functions of requests, responses and the time.
  ///
  /// A value without state: ``HTTPCache`` asks it and carries out what it says.
  public struct Policy: Sendable {
    /// Whether several users share the cache, so that `private`, `s-maxage`, `proxy-revalidate` and
    /// the rule for `Authorization` hold. The default is true.
    public var isShared = true
    /// The names of fields that stand in place of `Cache-Control` for this cache, the first one
    /// first, such as `CDN-Cache-Control`; none by default. Names end in `-Control`. RFC 9213.
    public var targetedFields: [String] = []
    /// Whether a response with `Set-Cookie` that says how long it is fresh is stored, by shared
    /// rules one that is fresh for a second at least. The default is true.
    public var storesSetCookie = true
    /// How long a stale response is served if the origin fails, unless it says so; zero by default.
    public var staleIfError = Duration.zero

    /// Creates the rules of a shared cache.
    public init() {}

    /// Returns what to do with a request. Source: RFC 9111, 4.
    ///
    /// - Parameters:
    ///   - request: The request of a client.
    ///   - stored: The response that is stored for this request, if there is one.
    ///   - now: The present.
    public func action(for request: Request, stored: Stored?, at now: Timestamp) -> Action {
      let demand = request.control
      let mustNotForward = demand.has("only-if-cached")
      guard let stored else { return mustNotForward ? .gatewayTimeout : .forward }
      let (rules, staleness) = (stored.rules(self).directives, stored.staleness(self, at: now))
      let isYoung = demand["max-age"].map { $0 > 0 && stored.age(at: now) <= $0 }
      if isYoung ?? true, !demand.has("no-cache"), stored.isTrusted(at: now), !excludes(stored) {
        let isFresh = staleness < 0 && !rules.has("no-cache")
        if isFresh, -staleness >= demand["min-fresh"] ?? 0 { return .serve }
        let mayBeStale = mayBeStale(rules) && demand["min-fresh"] == nil
        if mayBeStale, let limit = demand["max-stale"], staleness <= limit { return .serve }
        // A request that says how old a response may be wants no stale one. Source: 5.2.1.1.
        let limit = mayBeStale && isYoung == nil ? rules["stale-while-revalidate"] ?? 0 : 0
        if limit > 0, staleness <= limit { return mustNotForward ? .serve : .serveStaleAndRefresh }
      }
      if mustNotForward { return .gatewayTimeout }
      return stored.validators.isEmpty ? .forward : .validate(stored.validators)
    }

    /// Whether other rules have stored a response, or fields of it, for one user alone.
    func excludes(_ old: Stored) -> Bool {
      let rules = old.rules(self).directives
      let isNamed = rules.named["private"]?.contains(where: old.fields.contains) ?? false
      return isShared && (rules.has("private") || isNamed)
    }

    /// Whether directives allow to use a response when it is not fresh. Source: RFC 9111, 4.2.4.
    private func mayBeStale(_ rules: Directives) -> Bool {
      let ofShared = isShared ? ["proxy-revalidate", "s-maxage", "private"] : []
      return !(["must-revalidate", "no-cache"] + ofShared).contains(where: rules.has)
    }

    /// Returns whether a stored response answers a request for which the origin has failed: without
    /// a response, or with 500, 502, 503 or 504. Source: RFC 5861, 4.
    public func answersFailure(with old: Stored, to request: Request, at now: Timestamp) -> Bool {
      let (demand, rules) = (request.control, old.rules(self).directives)
      // A stored failure is no better than a new one.
      let isUseful = old.status < 500 && old.received <= now && mayBeStale(rules)
      let isWanted = !demand.has("no-cache") && demand["max-age"] != 0
      let allowed = rules["stale-if-error"] ?? Int(staleIfError.boundedComponents.seconds)
      let window = max(allowed, demand["stale-if-error"] ?? 0)
      let staleness = old.staleness(self, at: now)
      return isUseful && isWanted && staleness <= window && (window > 0 || staleness < 0)
    }
  }

  /// What to do with a request.
  public enum Action: Sendable {
    /// Answer with what is stored.
    case serve
    /// Answer with what is stored, and ask the origin afterwards.
    case serveStaleAndRefresh
    /// Ask the origin whether what is stored is still good, with these fields.
    case validate(Fields)
    /// Ask the origin.
    case forward
    /// Answer 504, because the request must not be forwarded.
    case gatewayTimeout
  }

  /// What to do with a response of the origin.
  public enum Verdict: Sendable {
    /// Store it, in place of an older one.
    case store(Stored)
    /// The stored response with newer fields is the response. Keep it if `isKept`, else remove it.
    case renew(Stored, isKept: Bool)
    /// Do not store it. What was stored before stays if `keepsPrevious`.
    case pass(keepsPrevious: Bool)
    /// Do not store it, and remove what is stored for these URLs.
    case invalidate([String])
  }
}

extension HTTPCache.Policy {
  /// The methods that change nothing. Any other one may. Source: RFC 9110, 9.2.1, and the registry.
  private static let safeMethods =
    "GET HEAD OPTIONS TRACE PROPFIND REPORT SEARCH QUERY".split { $0 == " " }

  /// Whether a response with this status says that the request may have changed something.
  func mayHaveChanged(_ status: Int, by request: Request) -> Bool {
    (200..<400).contains(status) && !Self.safeMethods.contains(request.method[...])
  }

  /// Whether a response answers a request without demands, at once or because the origin fails.
  private func answersOthers(_ old: Stored, at now: Timestamp) -> Bool {
    let other = HTTPCache.Request(authority: "", target: "/")
    switch action(for: other, stored: old, at: now) {
    case .serve, .serveStaleAndRefresh: return true
    case .forward, .validate, .gatewayTimeout:
      return answersFailure(with: old, to: other, at: now)
    }
  }

  /// Returns what to do with a response. Source: RFC 9111, 3, 4.3.3 to 4.4.
  ///
  /// - Parameters:
  ///   - response: The response of the origin.
  ///   - request: The request as it was forwarded.
  ///   - previous: What is stored for the request, if anything is.
  ///   - sent: The time at which the request was forwarded.
  ///   - now: The present.
  public func verdict(
    on response: HTTPCache.Response, to request: HTTPCache.Request, previous: HTTPCache.Stored?,
    sent: Timestamp, at now: Timestamp
  ) -> HTTPCache.Verdict {
    let (status, fields) = (response.status, response.fields.endToEnd)
    func updated(_ previous: Stored) -> HTTPCache.Verdict {
      // A cookie that came with either is its client's alone.
      let fields = previous.fields(updatedBy: fields).removing(isShared ? ["set-cookie"] : [])
      let renewed = stored(previous.status, fields, previous.content, request, sent, now)
      return .renew(renewed ?? previous, isKept: renewed.map { isStorable($0, request) } ?? false)
    }
    switch (request.method, previous) {
    case ("GET", let previous?) where status == 304:
      let isSame = previous.isMeant(by: fields, at: now)
      return isSame ? updated(previous) : .renew(previous, isKept: false)
    case ("GET", let previous?)
    where [500, 502, 503, 504].contains(status) && answersOthers(previous, at: now):
      // What answers other requests stays, whatever this client has demanded.
      return .pass(keepsPrevious: true)
    case ("GET", _):
      let new = stored(status, fields, .bytes([]), request, sent, now)
      if let new, !request.fields.contains("range"), isStorable(new, request) { return .store(new) }
      // What was stored is outdated by an answer to all, not by one that must not be stored.
      let isForAll = [200, 301, 308, 404, 410].contains(status) && !request.isPersonal
      return .pass(keepsPrevious: !isForAll)
    // Source: RFC 9111, 4.3.5.
    case ("HEAD", let previous?)
    where status == 200 && previous.status == 200 && previous.isConfirmed(by: fields):
      return updated(previous)
    case ("HEAD", let previous?)
    where [200, 404, 410].contains(status) && !(isShared && request.isPersonal):
      return .renew(previous.with(outdated: now), isKept: true)
    case _ where mayHaveChanged(status, by: request):
      // Its own URL, and those of the same origin that the response names. Source: RFC 9111, 4.4.
      let own = URLReference(request)
      let named = fields.values(of: "location") + fields.values(of: "content-location")
      return .invalidate([own.text] + named.compactMap { own.resolving($0)?.text })
    default: return .pass(keepsPrevious: true)
    }
  }

  /// Returns a response as it would be stored; nil if no later request could match it, or if its
  /// head is too long to be read again with the length that is added.
  private func stored(
    _ status: Int, _ fields: Fields, _ content: Stored.Content, _ request: Request,
    _ sent: Timestamp, _ now: Timestamp
  ) -> Stored? {
    let isShort = fields.adding(["Content-Length": "\(Int.max)"]).areValid
    guard isShort, let variant = Variant(of: fields, to: request) else { return nil }
    let stored = Stored(status, fields, request.key, variant, (sent, now), content)
    let named = stored.rules(self).directives.named
    let left = (named["no-cache"] ?? []) + (isShared ? named["private"] ?? [] : [])
    return left.isEmpty ? stored : stored.with(minus: left)
  }

  /// Whether a response may be stored, and could be used again. Source: RFC 9111, 3.
  private func isStorable(_ stored: Stored, _ request: Request) -> Bool {
    let (rules, isExplicit) = (stored.rules(self).directives, stored.lifetime(self).isExplicit)
    let isFresh = stored.staleness(self, at: stored.received) < 0
    // The statuses whose meaning for a cache this one knows. Source: RFC 9110, 15.
    let isUnderstood = [200...206, 300...308, 400...417, 421...426, 500...505]
      .contains { $0.contains(stored.status) }
    let isForbidden =
      !(200...599).contains(stored.status) || [206, 304].contains(stored.status) || request.hasBody
      || request.control.has("no-store")
      || (rules.has("must-understand") ? !isUnderstood : rules.has("no-store"))
      || stored.fields.contains("set-cookie")
        && !(storesSetCookie && isExplicit && (isFresh || !isShared))
    let isForAll = ["public", "must-revalidate", "s-maxage"].contains(where: rules.has)
    let isPersonal = rules.has("private") || request.fields.contains("authorization") && !isForAll
    let isCacheable =
      isExplicit || ["public", "private"].contains(where: rules.has)
      || Stored.heuristicStatuses.contains(stored.status)
    let isUsable =
      isFresh || !stored.validators.isEmpty
      || ["stale-while-revalidate", "stale-if-error"].contains { rules[$0] ?? 0 > 0 }
    return !isForbidden && !(isShared && isPersonal) && isCacheable && isUsable
  }
}
