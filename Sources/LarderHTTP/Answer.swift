import Larder
import LarderSystem

extension HTTPCache.Stored {
  /// Returns the response to a request that this response answers, without a body where it has
  /// none. Source: RFC 9111, 4; RFC 9110, 13.2.2 and 14.
  ///
  /// - Parameter body: The whole body; of any length if the request is HEAD or a condition holds.
  func response(
    to request: HTTPCache.Request, _ body: HTTPCache.Body, at now: Timestamp
  ) -> HTTPCache.Response {
    var answer = HTTPCache.Response(status: status, fields: fields, body: body)
    answer.fields.set("Age", "\(age(at: now))")
    answer.meetConditions(of: request)
    if request.method == "HEAD" { answer.body = HTTPCache.Body([]) }
    guard answer.status == 200, let range = requestedRange(of: request) else { return answer }
    answer.status = range.isEmpty ? 416 : 206
    answer.body = body.part(range)
    answer.fields.set("Content-Length", "\(range.count)")
    let place = range.isEmpty ? "*" : "\(range.lowerBound)-\(range.upperBound - 1)"
    answer.fields.set("Content-Range", "bytes \(place)/\(byteCount)")
    return answer
  }

  /// Returns the place of the only range that a request asks for; nil if the whole body answers.
  /// An empty place means that no byte of the body is in it.
  private func requestedRange(of request: HTTPCache.Request) -> Range<Int>? {
    guard request.method == "GET", let text = request.fields["range"]?.lowercased(),
      text.hasPrefix("bytes="), fulfils(request.fields["if-range"])
    else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    let (first, last) = (ends[0].trimmed, ends[1].trimmed)
    if first.isEmpty { return last.number.map { max(0, byteCount - $0)..<byteCount } }
    guard let start = first.number, let end = last.isEmpty ? Int.max - 1 : last.number,
      end >= start
    else { return nil }
    return start >= byteCount ? 0..<0 : start..<min(end + 1, byteCount)
  }

  /// Whether the condition of a range holds: a strong tag or a strong date, which is that of a
  /// change before the response was made. Source: RFC 9110, 8.8.2.2 and 13.1.5.
  private func fulfils(_ condition: String?) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("\"") { return condition == fields["etag"] }
    return condition == fields["last-modified"] && (lastModified ?? .max) < date
  }
}

extension HTTPCache.Response {
  /// Becomes a 304 if the request's conditions say that the client has this response already.
  ///
  /// Source: RFC 9110, 13.2.2; RFC 9111, 4.3.2.
  mutating func meetConditions(of request: HTTPCache.Request) {
    guard (200..<300).contains(status), isKnown(to: request) else { return }
    self = Self(status: 304, fields: fields.withoutContent)
  }

  private func isKnown(to request: HTTPCache.Request) -> Bool {
    if request.fields.contains("if-none-match") {
      let tag = fields["etag"]?.opaqueTag
      return request.fields.members(of: "if-none-match")
        .contains { $0 == "*" || $0.opaqueTag == tag }
    }
    func time(_ name: String, _ fields: HTTPCache.Fields, _ now: Int64) -> Int64? {
      fields[name].flatMap { HTTPDate.seconds($0, at: now) }
    }
    guard request.fields.contains("if-modified-since") else { return false }
    // A year of two digits is of a century near the date of the response.
    let date = time("date", fields, 0)
    guard let since = time("if-modified-since", request.fields, date ?? 0),
      let modified = time("last-modified", fields, date ?? 0) ?? date
    else { return false }
    return modified <= since
  }
}

extension String {
  /// An entity tag without its mark of weakness. Source: RFC 9110, 8.8.3.
  var opaqueTag: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}
