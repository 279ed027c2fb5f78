import Larder
import Synchronization

/// A request on its way: to what is stored, to the origin, or to another request's response.
///
/// 1. ``answer()`` looks for a stored response, and the policy says whether that may answer.
/// 2. If not, it asks the origin with ``Flights``' leave, or waits and goes back to 1.
/// 3. ``settle(_:_:_:)`` does with the origin's response what the policy says.
struct Exchange: Sendable {
  let cache: HTTPCache
  let request: Request
  let forwarding: @Sendable (Request) async throws -> Response
  /// The rules, which do not matter to a request that passes by.
  var policy = HTTPCache.Policy()
  let key: String
  /// Why the origin is asked.
  var reason = HTTPCache.Reason.bypass
  /// The stored response for the request, its body unless this is a refresh, and its key.
  var usable: (stored: Stored, body: Body?, place: CacheKey)?
  /// What the request asks for, as far as the stored marker tells.
  var variant = Variant(lines: [])
  /// Why it would have gone to the origin each time that it has waited for another request.
  var waits: [HTTPCache.Reason] = []
  /// Whether it may wait once more.
  var mayWait = true
  /// Its flight in ``Flights``, from when it asks the origin.
  var flight: UInt64 = 0
  /// Whether the origin is not asked on behalf of others: the response is not stored.
  var isAlone = false

  mutating func answer() async throws -> Response {
    while true {
      let endCount = cache.flights.endCount.load(ordering: .relaxed)
      let before = usable?.stored.received
      try await lookUp()
      // What was stored just now and is not fresh is not waited for a second time.
      if !waits.isEmpty, let stored = usable?.stored, stored.received != before { mayWait = false }
      let time = cache.now
      switch policy.action(for: request, stored: usable?.stored, at: time) {
      case .serve: return serve(at: time)
      case .serveStaleAndRefresh: return serve(at: time, refreshes: request.method == "GET")
      case .gatewayTimeout: return try await passBy()
      case .validate, .forward: if let answer = try await fetch(after: endCount) { return answer }
      }
    }
  }

  /// Asks the origin, or waits and returns nil. Not in ``answer()``, whose frame each hit makes.
  private mutating func fetch(after endCount: UInt64) async throws -> Response? {
    let isDemanded = ["no-cache", "max-age", "min-fresh"].contains(where: request.control.has)
    if usable != nil, isDemanded { reason = .request }
    // HEAD, a part of what is not stored, and what no file can name are not asked for others. No
    // such URL is stored, and a hit sends nothing on, so it need not look at each byte.
    let isPart = request.fields.contains("range")
    guard request.isPlain, usable != nil || !isPart else { return try await passBy() }
    // What came stale, or must not be used without a question, answers its own request alone.
    let rules = [usable?.stored.rules(policy).directives, request.control]
    let isAsked = rules.contains { $0?.has("no-cache") == true } || request.control["max-age"] == 0
    let isOwn = usable.map { $0.stored.staleness(policy, at: $0.stored.received) >= 0 } ?? false
    let shares = mayWait && !isOwn && !isAsked && !isPart && !request.isPersonal
    switch await cache.flights.join(self, shares, after: endCount) {
    case .asks(let flight): return try await ask(flight)
    case .looks(let again): (waits, mayWait) = (waits + [reason], again && waits.count < 3)
    case .fails(let error):
      (waits, mayWait) = (waits + [reason], false)
      if let stale = await standIn() { return stale }
      if let error { throw error }
    }
    return nil
  }

  func serve(at time: Timestamp, refreshes: Bool = false, _ status: Int? = nil) -> Response {
    if refreshes { refresh() }
    guard case let (stored, body?, _)? = usable else { return Response(status: 504) }
    let rest = -stored.staleness(policy, at: time)
    cache.counters.withLock {
      if rest > 0 { $0.hits += 1 } else { $0.stale += 1 }
      if !waits.isEmpty, flight == 0 { $0.collapsed += 1 }
    }
    var source = waits.first.map { "fwd=\($0.rawValue); collapsed" } ?? "hit"
    if flight > 0 { source = "fwd=\(reason.rawValue)\(status.map { "; fwd-status=\($0)" } ?? "")" }
    return said("\(source); ttl=\(rest)", stored.response(to: request, body, at: time))
  }

  /// Returns what is stored, if it may answer although the origin has failed. Looks once more: what
  /// was removed meanwhile answers nobody.
  private func standIn(_ status: Int? = nil) async -> Response? {
    guard let usable, [nil, 500, 502, 503, 504].contains(status) else { return nil }
    var again = self
    // What is closed or cancelled has nothing that could stand in.
    do { try await again.lookUp() } catch { return nil }
    again.reason = reason
    if usable.body == nil { again.usable?.body = nil }
    let time = cache.now
    guard let old = again.usable?.stored, policy.answersFailure(with: old, to: request, at: time)
    else { return nil }
    return again.serve(at: time, status)
  }

  /// Asks the origin for what was served stale, unless another request does. It answers nobody.
  private func refresh() {
    Task { [self] in
      guard case .asks(let id) = await cache.flights.join(self, true, after: nil) else { return }
      var own = self
      own.usable?.body = nil
      _ = try await own.ask(id)
    }
  }

  /// Asks the origin what is not asked on behalf of others, with the client's own conditions.
  mutating func passBy() async throws -> Response {
    let isForbidden = reason != .method && request.control.has("only-if-cached")
    if isForbidden { return said("detail=only-if-cached", Response(status: 504)) }
    isAlone = true
    return try await ask(await cache.flights.start(self, isShared: false))
  }

  /// Asks the origin, or answers with what is stored if the origin fails and that may answer.
  private mutating func ask(_ flight: UInt64) async throws -> Response {
    self.flight = flight
    let asked = request.forwarded(isAlone ? nil : usable?.stored.validators ?? [:])
    let sent = cache.now
    cache.counters.withLock { $0.forwarded[reason, default: 0] += 1 }
    do {
      var response = asked.isSound ? try await forwarding(asked) : Response(status: 400)
      let status = response.status
      // HEAD and 304 tell the length of a body that they do not have.
      response.check(hasBody: asked.method != "HEAD" && status != 304)
      // The origin may have made a change whose response is refused here.
      if response.status != status, policy.mayHaveChanged(status, by: request) {
        await cache.countingFailure { try await cache.invalidate(request.url) }
      }
      // Source: RFC 9110, 6.6.1, 7.6.1.
      response.fields = response.fields.endToEnd
      let isDated = response.fields.seconds("date", at: sent.seconds) != nil
      if !isDated { response.fields.set("Date", HTTPDate.text(cache.now.seconds)) }
      guard let old = await standIn(response.status) else {
        return await settle(response, asked, sent)
      }
      await cache.flights.end(flight, .fails(nil))
      return old
    } catch {
      // The cancellation of one task says nothing to the others.
      let isCancelled = error is CancellationError || Task.isCancelled
      await cache.flights.end(flight, isCancelled ? .looks(mayWait: true) : .fails(error))
      if !isCancelled, let stale = await standIn() { return stale }
      throw error
    }
  }

  private func settle(_ response: Response, _ asked: Request, _ sent: Timestamp) async -> Response {
    var stored: Stored?
    let (old, count) = (usable?.stored, response.body.byteCount ?? 0)
    switch policy.verdict(on: response, to: asked, previous: old, sent: sent, at: cache.now) {
    case .store(let new) where count <= cache.bodyLimit: stored = new
    case .renew(let new, let isKept):
      let isStored = isKept ? await publish(new) : false
      if !isKept, !asked.isPersonal { await publish(nil) }
      await cache.flights.end(flight, .looks(mayWait: true))
      if !isAlone { cache.counters.withLock { $0.validated += 1 } }
      guard !isAlone, let body = usable?.body else { break }
      var answer = new.response(to: request, body, at: cache.now)
      if new !== old {
        // What is not stored, because it is for this client alone, goes to this client.
        let known = new.fields.map(\.name) + Response.ofBody
        answer.fields = answer.fields.adding(response.fields.removing(known))
      } else if policy.isShared {
        // A 304 of another response updates nothing, but a cookie is its client's alone.
        let cookies = response.fields.values(of: "set-cookie").map { ("Set-Cookie", $0) }
        answer.fields = answer.fields.removing(["set-cookie"]).adding(Fields(cookies))
      }
      return said("fwd=\(reason.rawValue); fwd-status=304\(isStored ? "; stored" : "")", answer)
    case .store, .pass(keepsPrevious: false): if !isAlone { await publish(nil) }
    case .pass: break
    case .invalidate(let urls):
      for url in urls { await cache.countingFailure { try await cache.invalidate(url) } }
    }
    // What one user gets, and an error but that there is nothing, say nothing of other responses.
    let says = (response.status < 400 || [404, 410].contains(response.status)) && !asked.isPersonal
    guard !isAlone, await cache.flights.headCame(flight, stored?.variant, says), let stored else {
      await cache.flights.end(flight, .looks(mayWait: false))
      return passed(response)
    }
    return await keep(response, stored)
  }

  /// Stores a response, now if its body is small and known, or else as it goes to the client.
  private func keep(_ new: Response, _ stored: Stored) async -> Response {
    if let bytes = new.body.bytes, bytes.count <= Stored.Content.largestInline {
      return passed(new, await publish(stored.with(.bytes(bytes))) ? "; stored" : "")
    }
    var answer = passed(new, "; stored")
    let fill = Fill(new.body, stored, self)
    // If no client reads the body, it is read to be stored.
    if answer.status == 304 || usable != nil && usable?.body == nil {
      Task { while await fill.isKept, try await fill.next() != nil {} }
    } else {
      answer.body = Body(byteCount: new.body.byteCount, next: fill.next)
    }
    return answer
  }

  /// Returns the origin's response as a client gets it, by its conditions if the origin saw none.
  private func passed(_ response: Response, _ end: String = "") -> Response {
    var answer = response
    if !isAlone { answer.meetConditions(of: request, at: cache.now.seconds) }
    return said("fwd=\(reason.rawValue); fwd-status=\(response.status)\(end)", answer)
  }

  /// Returns a response with what this cache did, if the configuration names it. RFC 9211, 2.
  private func said(_ text: @autoclosure () -> String, _ response: consuming Response) -> Response {
    if let name = cache.statusName { response.own.append("Cache-Status", "\(name); \(text())") }
    return response
  }
}
