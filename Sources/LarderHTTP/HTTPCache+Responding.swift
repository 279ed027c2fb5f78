import Larder
import LarderBasics
import LarderSystem
import Synchronization

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
    var policy = configuration.policy
    var isBypassed = false
    switch configuration.route?(request) {
    case .cached(let own): policy = own
    case .bypassed: isBypassed = true
    case nil: break
    }
    let reference = URLReference(request)
    let exchange = Exchange(
      request: request, url: reference.text, policy: policy, forwarding: forwarding)
    guard request.method == "GET" || request.method == "HEAD" else {
      return try await passBy(exchange, .method)
    }
    guard !isBypassed, !request.hasBody, reference.isClean, request.fields.areValid,
      !request.fields.contains("if-match"), !request.fields.contains("if-unmodified-since")
    else { return try await passBy(exchange, .bypass) }
    return try await answer(exchange)
  }

  /// Answers from what is stored, asks the origin, or waits for another request that does and looks
  /// again.
  private func answer(_ exchange: Exchange) async throws -> Response {
    let request = exchange.request
    var mayWait = request.mayWait
    var hasWaited = false
    while true {
      let endCount = flights.endCount.load(ordering: .relaxed)
      let found = try await lookUp(request, exchange.url)
      // Opened before the origin is asked, so that its 304 finds the body there.
      let usable = try await usable(found.stored)
      // What was stored just now and is not fresh is not waited for a second time.
      if hasWaited, usable != nil { mayWait = false }
      let question: Question
      let time = now
      let action = exchange.policy.action(for: request, stored: usable?.stored, at: time)
      switch action {
      case .gatewayTimeout: return Response(status: 504)
      case .serve, .serveStaleAndRefresh:
        guard let usable else { continue }
        if case .serveStaleAndRefresh = action, request.method == "GET" {
          refresh(usable, exchange)
        }
        return serve(usable, exchange, hasWaited: hasWaited, at: time)
      case .validate(let conditions):
        question = Question(usable, conditions, found, exchange, hasWaited)
      case .forward: question = Question(usable, [:], found, exchange, hasWaited)
      }
      guard request.method == "GET" else {
        return try await passBy(exchange, question.reason, usable)
      }
      // A part cannot be stored, so it is not asked for on behalf of others.
      if usable == nil, request.fields.contains("range") {
        return try await passBy(exchange, question.reason)
      }
      guard
        let (flight, waits) = await flights.join(
          request, exchange.url, mayShare: mayWait, after: endCount)
      else { continue }
      guard waits else { return try await ask(exchange, question, flight) }
      hasWaited = true
      switch await flights.wait(for: flight, request) {
      case .looksAgain: continue
      case .flies: mayWait = false
      case .fails(let error):
        if let stale = staleAnswer(usable, exchange) { return stale }
        guard error is OriginFailure else { throw error }
        mayWait = false
      }
    }
  }

  private func usable(_ stored: Stored?) async throws -> Usable? {
    guard let stored, let body = try await body(of: stored) else { return nil }
    return Usable(stored: stored, body: body)
  }

  /// Answers with what is stored.
  private func serve(
    _ usable: Usable, _ exchange: Exchange, hasWaited: Bool = false, at time: Timestamp
  ) -> Response {
    let rest = usable.stored.lifetime(exchange.policy).seconds - usable.stored.age(at: time)
    count {
      if rest > 0 { $0.hits += 1 } else { $0.stale += 1 }
      if hasWaited { $0.collapsed += 1 }
    }
    let response = usable.stored.response(to: exchange.request, usable.body, at: time)
    return stating("hit; ttl=\(rest)\(hasWaited ? "; collapsed" : "")", in: response)
  }

  /// Asks the origin for a response that was served stale, unless another request does.
  private func refresh(_ usable: Usable, _ exchange: Exchange) {
    let question = Question(
      usable, usable.stored.validators ?? [:], Found(stored: usable.stored), exchange, false)
    drain { [self] in
      guard let flight = await flights.startAlone(exchange.url) else { return Body([]) }
      return try await ask(exchange, question, flight).body
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

  /// Returns what is stored, if it may answer although the origin has failed.
  private func staleAnswer(_ usable: Usable?, _ exchange: Exchange) -> Response? {
    let time = now
    guard let usable,
      exchange.policy.answersFailure(with: usable.stored, to: exchange.request, at: time)
    else { return nil }
    return serve(usable, exchange, at: time)
  }
}

extension HTTPCache {
  /// Asks the origin on behalf of a request and of those that wait for it.
  private func ask(
    _ exchange: Exchange, _ question: Question, _ flight: UInt64
  ) async throws -> Response {
    let usable = question.usable
    let asked = exchange.request.asking(question.conditions)
    let sent = now
    let response: Response
    do {
      response = try await forward(asked, exchange, question.reason)
    } catch {
      // The cancellation of one task says nothing to the others.
      let isCancelled = error is CancellationError || Task.isCancelled
      await flights.end(flight, isCancelled ? .flies : .fails(error))
      if !isCancelled, let stale = staleAnswer(usable, exchange) { return stale }
      throw error
    }
    if response.isFailure, let stale = staleAnswer(usable, exchange) {
      await flights.end(flight, .fails(OriginFailure()))
      return stale
    }
    switch exchange.policy.verdict(
      on: response, to: asked, previous: usable?.stored, sent: sent, at: now)
    {
    case .store(let new): return await keep(response, new, exchange, question, flight)
    case .renew(let new, let isKept):
      count { $0.validated += 1 }
      if isKept { await renew(new, flight) } else { await remove(usable?.stored ?? new) }
      await flights.end(flight, .looksAgain)
      let answer = new.response(to: exchange.request, usable?.body ?? Body([]), at: now)
      return stating(question.status(304, isStored: isKept), in: answer)
    case .pass(let keepsPrevious):
      if !keepsPrevious, let stored = usable?.stored { await remove(stored) }
      _ = await flights.headCame(of: flight, nil)
      await flights.end(flight, .flies)
    case .invalidate: await flights.end(flight, .flies)
    }
    return passed(response, exchange.request, question, isStored: false)
  }

  /// Sends a request on, and returns the response if its head can be believed; else a 502.
  private func forward(
    _ asked: Request, _ exchange: Exchange, _ reason: Reason
  ) async throws -> Response {
    count { $0.forwarded[reason, default: 0] += 1 }
    let response = try await exchange.forwarding(asked)
    guard response.hasValidHead(for: asked) else { return Response(status: 502) }
    return response
  }

  /// Stores a response, now if its body is small and known, or else as it goes to the client.
  private func keep(
    _ response: Response, _ new: Stored, _ exchange: Exchange, _ question: Question,
    _ flight: UInt64
  ) async -> Response {
    let previous = question.usable?.stored
    let length = response.body.byteCount ?? response.announcedLength
    let fits = (length ?? 0) <= configuration.bodyLimit ?? .max
    guard await flights.headCame(of: flight, fits ? new.variant : nil) else {
      await flights.end(flight, .flies)
      return passed(response, exchange.request, question, isStored: false)
    }
    var kept = response
    if let bytes = response.body.bytes, bytes.count <= Entry.largestInlineBody,
      bytes.count == response.announcedLength ?? bytes.count
    {
      let isKept = await publish(new.with(.bytes(bytes)), replacing: previous, flight)
      await flights.end(flight, isKept ? .looksAgain : .flies)
    } else {
      let fill = Fill(response.body, length, of: new, replacing: previous, flight, self)
      let body = Body(byteCount: length) { try await fill.next() }
      kept.body = body
      if response.isNotModified(for: exchange.request) { drain { body } }
    }
    return passed(kept, exchange.request, question, isStored: true)
  }

  /// Returns a response of the origin as it goes to a client, whose conditions the origin has not
  /// seen.
  private func passed(
    _ response: Response, _ request: Request, _ question: Question, isStored: Bool
  ) -> Response {
    var answer = response.withoutHopByHop(at: now)
    if response.isNotModified(for: request) {
      answer = Response(status: 304, fields: answer.fields.withoutContent)
    }
    return stating(question.status(response.status, isStored: isStored), in: answer)
  }

  /// Forwards a request that is not asked on behalf of others, and judges what is stored by the
  /// response: to HEAD, or to a method that may have changed something.
  private func passBy(
    _ exchange: Exchange, _ reason: Reason, _ usable: Usable? = nil
  ) async throws -> Response {
    var asked = exchange.request
    asked.fields = asked.fields.withoutHopByHop
    let sent = now
    let response: Response
    do {
      response = try await forward(asked, exchange, reason)
    } catch {
      if let stale = staleAnswer(usable, exchange) { return stale }
      throw error
    }
    if response.isFailure, let stale = staleAnswer(usable, exchange) { return stale }
    switch exchange.policy.verdict(
      on: response, to: asked, previous: usable?.stored, sent: sent, at: now)
    {
    case .renew(let new, isKept: true):
      let flight = await flights.start(exchange.url, isShared: false)
      await renew(new, flight)
      await flights.end(flight, .looksAgain)
    case .renew(let new, isKept: false): await remove(new)
    case .invalidate(let urls):
      for url in urls {
        await countingFailure { () async throws(CacheError) in try await invalidate(url) }
      }
    case .store, .pass: break
    }
    let status = "fwd=\(reason.rawValue); fwd-status=\(response.status)"
    return stating(status, in: response.withoutHopByHop(at: now))
  }
}
