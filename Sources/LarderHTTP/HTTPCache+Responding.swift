import Larder
import LarderBasics
import LarderSystem
import Synchronization

/// A request with what it takes to answer it.
struct Exchange: Sendable {
  let request: HTTPCache.Request
  let url: String
  var policy: HTTPCache.Policy
  let forwarding: @Sendable (HTTPCache.Request) async throws -> HTTPCache.Response
  /// The stored response for the request, with its body at hand.
  var usable: (stored: HTTPCache.Stored, body: HTTPCache.Body)?
  /// Why the origin is asked.
  var reason = HTTPCache.Reason.bypass
  /// Whether it has waited for another request.
  var hasWaited = false

  /// Whether other requests may wait for the response, and this one for theirs.
  var mayShare: Bool {
    !request.fields.contains(any: ["range", "authorization"]) && !request.control.has("no-store")
  }
}

extension HTTPCache {
  /// Returns the response to a request, from the cache or from the origin.
  ///
  /// - Parameters:
  ///   - request: The request of a client.
  ///   - forwarding: Sends a request to the origin, follows no redirect and decodes no content.
  ///     It is called once or never; after the response too, to refresh what was served stale.
  /// - Throws: The error of `forwarding`, unless something stored may answer instead;
  ///   `CancellationError`; `CacheError` with `.closed` and `.forked`.
  public func respond(
    to request: Request,
    forwarding: @escaping @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    var exchange = Exchange(
      request: request, url: request.url, policy: configuration.policy, forwarding: forwarding)
    // The URL stands in a line of a file and in a key.
    var isBypassed =
      request.hasBody || exchange.url.utf8.contains { $0 <= 32 || $0 == 127 }
      || !request.fields.areValid
      || request.fields.contains(any: ["if-match", "if-unmodified-since"])
    switch configuration.route?(request) {
    case .cached(let own): exchange.policy = own
    case .bypassed: isBypassed = true
    case nil: break
    }
    let isKnown = request.method == "GET" || request.method == "HEAD"
    if !isKnown { exchange.reason = .method }
    return isKnown && !isBypassed ? try await answer(&exchange) : try await passBy(exchange)
  }

  /// Answers from what is stored, asks the origin, or waits for another request that does and looks
  /// again.
  private func answer(_ exchange: inout Exchange) async throws -> Response {
    let request = exchange.request
    var mayWait = true
    while true {
      let endCount = flights.endCount.load(ordering: .relaxed)
      try await lookUp(&exchange)
      // What was stored just now and is not fresh is not waited for a second time.
      if exchange.hasWaited, exchange.usable != nil { mayWait = false }
      let time = now
      let action = exchange.policy.action(for: request, stored: exchange.usable?.stored, at: time)
      if case .serveStaleAndRefresh = action, request.method == "GET" { refresh(exchange) }
      var conditions: Fields = [:]
      switch action {
      case .serve, .serveStaleAndRefresh:
        if let answer = serve(exchange, at: time) { return answer }
      case .gatewayTimeout: return stating("detail=only-if-cached", in: Response(status: 504))
      case .validate(let validators): conditions = validators
      case .forward: break
      }
      if exchange.usable != nil {
        let isDemanded = ["no-cache", "max-age", "min-fresh"].contains(where: request.control.has)
        exchange.reason = isDemanded ? .request : .stale
      }
      // HEAD, and a part of what is not stored, are not asked for on behalf of others.
      guard request.method == "GET", exchange.usable != nil || !request.fields.contains("range")
      else { return try await passBy(exchange) }
      let turn = await flights.join(
        request, exchange.url, mayShare: mayWait && exchange.mayShare, after: endCount)
      if case .asks(let flight) = turn {
        return try await ask(exchange, request.asking(conditions), flight)
      }
      exchange.hasWaited = true
      if case .looksAgain = turn { continue }
      mayWait = false
      guard case .fails(let error) = turn else { continue }
      if let stale = staleAnswer(exchange) { return stale }
      if let error { throw error }
    }
  }

  /// Answers with what is stored.
  private func serve(_ exchange: Exchange, at time: Timestamp) -> Response? {
    guard let usable = exchange.usable else { return nil }
    let (rest, hasWaited) = (
      -usable.stored.staleness(exchange.policy, at: time), exchange.hasWaited
    )
    count {
      if rest > 0 { $0.hits += 1 } else { $0.stale += 1 }
      if hasWaited { $0.collapsed += 1 }
    }
    let response = usable.stored.response(to: exchange.request, usable.body, at: time)
    return stating("hit; ttl=\(rest)\(hasWaited ? "; collapsed" : "")", in: response)
  }

  /// Returns what is stored, if it may answer although the origin has failed.
  private func staleAnswer(_ exchange: Exchange) -> Response? {
    let time = now
    guard let stored = exchange.usable?.stored,
      exchange.policy.answersFailure(with: stored, to: exchange.request, at: time)
    else { return nil }
    return serve(exchange, at: time)
  }

  /// Asks the origin for a response that was served stale, unless another request does.
  private func refresh(_ exchange: Exchange) {
    var exchange = exchange
    exchange.reason = .stale
    drain { [self, exchange] in
      let turn = await flights.join(exchange.request, exchange.url, mayShare: true, after: .max)
      guard case .asks(let flight) = turn else { return Body([]) }
      let asked = exchange.request.asking(exchange.usable?.stored.validators ?? [:])
      return try await ask(exchange, asked, flight).body
    }
  }

  /// Reads a body that no client waits for, in a task of its own, so that it is stored.
  private func drain(_ body: @escaping @Sendable () async throws -> Body) {
    Task {
      do {
        for try await _ in try await body() {}
      } catch {
        // Nothing is stored, and the client had its answer.
      }
    }
  }

  /// Asks the origin what is not asked on behalf of others, with the client's own conditions.
  private func passBy(_ exchange: Exchange) async throws -> Response {
    var asked = exchange.request
    asked.fields = asked.fields.withoutHopByHop
    let flight = await flights.start(exchange.url, isShared: false)
    return try await ask(exchange, asked, flight, isAlone: true)
  }

  /// Asks the origin, or answers with what is stored if the origin fails and that may answer.
  ///
  /// - Parameter isAlone: Whether the response concerns nobody else: it is not stored.
  private func ask(
    _ exchange: Exchange, _ asked: Request, _ flight: UInt64, isAlone: Bool = false
  ) async throws -> Response {
    let sent = now
    count { $0.forwarded[exchange.reason, default: 0] += 1 }
    do {
      var response = try await exchange.forwarding(asked)
      if !response.hasValidHead(for: asked) { response = Response(status: 502) }
      let isFailure = [500, 502, 503, 504].contains(response.status)
      guard isFailure, let stale = staleAnswer(exchange) else {
        return await settle(response, asked, exchange, flight, isAlone, sent)
      }
      await flights.end(flight, .fails(nil))
      return stale
    } catch {
      // The cancellation of one task says nothing to the others.
      let isCancelled = error is CancellationError || Task.isCancelled
      await flights.end(flight, isCancelled ? .flies : .fails(error))
      if !isCancelled, let stale = staleAnswer(exchange) { return stale }
      throw error
    }
  }

  /// Carries out what a response of the origin means for what is stored, and returns the answer.
  private func settle(
    _ response: Response, _ asked: Request, _ exchange: Exchange, _ flight: UInt64,
    _ isAlone: Bool, _ sent: Timestamp
  ) async -> Response {
    let previous = exchange.usable?.stored
    let verdict = exchange.policy.verdict(
      on: response, to: asked, previous: previous, sent: sent, at: now)
    switch verdict {
    case .store(let new) where !isAlone: return await keep(response, new, exchange, flight)
    case .renew(let new, let isKept):
      if isKept { await renew(new, flight) } else { await remove(previous ?? new) }
      await flights.end(flight, .looksAgain)
      guard !isAlone, let body = exchange.usable?.body else { break }
      count { $0.validated += 1 }
      let answer = new.response(to: exchange.request, body, at: now)
      return stating(status(304, exchange, isStored: isKept), in: answer)
    case .pass(keepsPrevious: false) where !isAlone: if let previous { await remove(previous) }
    case .invalidate(let urls):
      for url in urls {
        await countingFailure { () async throws(CacheError) in try await invalidate(url) }
      }
    case .store, .pass: break
    }
    if !isAlone { _ = await flights.headCame(of: flight, nil) }
    await flights.end(flight, .flies)
    return passed(response, exchange, isStored: false, meetsConditions: !isAlone)
  }

  /// Stores a response, now if its body is small and known, or else as it goes to the client.
  private func keep(
    _ response: Response, _ new: Stored, _ exchange: Exchange, _ flight: UInt64
  ) async -> Response {
    let length = response.body.byteCount ?? response.announcedLength
    let fits = (length ?? 0) <= configuration.bodyLimit ?? .max
    guard await flights.headCame(of: flight, fits ? new.variant : nil) else {
      await flights.end(flight, .flies)
      return passed(response, exchange, isStored: false)
    }
    var kept = response
    if let bytes = response.body.bytes, bytes.count <= Entry.largestInlineBody,
      bytes.count == response.announcedLength ?? bytes.count
    {
      await publish(new.with(.bytes(bytes)), replacing: exchange.usable?.stored, flight)
      return passed(kept, exchange, isStored: true)
    }
    let fill = Fill(
      response.body, length, of: new, replacing: exchange.usable?.stored, flight, self)
    let body = Body(byteCount: length) { try await fill.next() }
    kept.body = body
    let answer = passed(kept, exchange, isStored: true)
    if answer.status == 304 { drain { body } }
    return answer
  }

  /// Returns a response of the origin as it goes to a client, with a date.
  ///
  /// - Parameter meetsConditions: Whether the client's conditions are answered here, because the
  ///   origin has not seen them. Source: RFC 9110, 6.6.1.
  private func passed(
    _ response: Response, _ exchange: Exchange, isStored: Bool, meetsConditions: Bool = true
  ) -> Response {
    var answer = response
    answer.fields = response.fields.withoutHopByHop
    if !answer.fields.contains("date") { answer.fields.append("Date", HTTPDate.text(now.seconds)) }
    if meetsConditions { answer.meetConditions(of: exchange.request) }
    return stating(status(response.status, exchange, isStored: isStored), in: answer)
  }

  /// The parameters of `Cache-Status`. Source: RFC 9211, 2.
  private func status(_ status: Int, _ exchange: Exchange, isStored: Bool) -> String {
    "fwd=\(exchange.reason.rawValue); fwd-status=\(status)" + (isStored ? "; stored" : "")
      + (exchange.hasWaited ? "; collapsed=?0" : "")
  }
}
