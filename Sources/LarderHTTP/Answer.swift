import Larder
import LarderSystem

extension HTTPCache.Stored {
  /// Returns the response to a request that this response answers, without a body where it has
  /// none. Source: RFC 9111, 4; RFC 9110, 13.2.2 and 14.
  ///
  /// - Parameter body: The whole body; nil if the request is HEAD or a condition holds.
  func response(
    to request: HTTPCache.Request, _ body: HTTPCache.Body, at now: Timestamp
  ) -> HTTPCache.Response {
    var fields = fields
    fields.set("Age", "\(age(at: now))")
    if isNotModified(for: request) {
      return HTTPCache.Response(status: 304, fields: fields.withoutContent)
    }
    if request.method == "HEAD" { return HTTPCache.Response(status: status, fields: fields) }
    if let range = requestedRange(of: request) {
      return Self.partial(range, fields, body, byteCount)
    }
    return HTTPCache.Response(status: status, fields: fields, body: body)
  }

  /// Whether the request's conditions say that the client has this response already.
  private func isNotModified(for request: HTTPCache.Request) -> Bool {
    HTTPCache.Response(status: status, fields: fields).isNotModified(for: request)
  }

  /// Returns the place of the only range that a request asks for; nil if the whole body answers.
  /// An empty place means that no byte of the body is in it.
  private func requestedRange(of request: HTTPCache.Request) -> Range<Int>? {
    guard request.method == "GET", status == 200, let field = request.fields["range"],
      fulfils(request.fields["if-range"])
    else { return nil }
    let text = field.lowercased()
    guard text.hasPrefix("bytes=") else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    let (first, last) = (ends[0].trimmed, ends[1].trimmed)
    if first.isEmpty {
      return last.number.map { max(0, byteCount - $0)..<byteCount }
    }
    guard let start = first.number else { return nil }
    if last.isEmpty { return min(start, byteCount)..<byteCount }
    guard let end = last.number, end >= start else { return nil }
    return start >= byteCount ? 0..<0 : start..<min(end + 1, byteCount)
  }

  /// Whether the condition of a range holds. Source: RFC 9110, 13.1.5.
  private func fulfils(_ condition: String?) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("\"") { return condition == fields["etag"] }
    return condition == fields["last-modified"]
  }

  private static func partial(
    _ range: Range<Int>, _ fields: HTTPCache.Fields, _ body: HTTPCache.Body, _ byteCount: Int
  ) -> HTTPCache.Response {
    var fields = fields
    fields.set("Content-Length", "\(range.count)")
    guard !range.isEmpty else {
      fields.set("Content-Range", "bytes */\(byteCount)")
      return HTTPCache.Response(status: 416, fields: fields)
    }
    fields.set("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)")
    return HTTPCache.Response(status: 206, fields: fields, body: body.part(range))
  }
}

extension HTTPCache.Body {
  /// Returns a part of a body that is in memory or in a file.
  fileprivate func part(_ range: Range<Int>) -> Self {
    switch content {
    case .bytes(let bytes): Self(Array(bytes[range]))
    case .file(let file, let whole):
      Self(file, whole.lowerBound + range.lowerBound..<whole.lowerBound + range.upperBound)
    case .stream: self
    }
  }
}

extension HTTPCache.Response {
  /// Whether the request's conditions say that the client has this response already.
  ///
  /// Source: RFC 9110, 13.2.2; RFC 9111, 4.3.2.
  func isNotModified(for request: HTTPCache.Request) -> Bool {
    guard (200..<300).contains(status) else { return false }
    if let tags = request.fields["if-none-match"] {
      let tag = fields["etag"].map { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] }
      return HTTPCache.Fields.members(of: tags).contains { candidate in
        candidate == "*"
          || (candidate.hasPrefix("W/") ? candidate.dropFirst(2) : candidate[...]) == tag
      }
    }
    func time(_ name: String, _ fields: HTTPCache.Fields, _ now: Int64) -> Int64? {
      fields[name].flatMap { HTTPDate.seconds($0, at: now) }
    }
    // A year of two digits is of a century near the date of the response.
    let date = time("date", fields, 0)
    guard let since = time("if-modified-since", request.fields, date ?? 0),
      let modified = time("last-modified", fields, date ?? 0) ?? date
    else { return false }
    return modified <= since
  }
}
