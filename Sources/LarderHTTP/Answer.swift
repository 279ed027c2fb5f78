import Larder
import LarderSystem

extension HTTPCache.Stored {
  /// Returns the response to a request that this response answers, without a body where it has
  /// none. Source: RFC 9111, 4; RFC 9110, 13.2.2 and 14.
  ///
  /// - Parameter body: The whole body; of any length if the request is HEAD or a condition holds.
  func response(to request: Request, _ body: Body, at now: Timestamp) -> Response {
    var answer = Response(status: status, fields: fields, body: body)
    answer.fields.set("Age", "\(age(at: now))")
    answer.meetConditions(of: request)
    if request.method == "HEAD" { answer.body = Body([]) }
    guard answer.status == 200, let range = requestedRange(of: request) else { return answer }
    answer.status = range.isEmpty ? 416 : 206
    answer.body = body.part(range)
    answer.fields.set("Content-Length", "\(range.count)")
    let place = range.isEmpty ? "*" : "\(range.lowerBound)-\(range.upperBound - 1)"
    answer.fields.set("Content-Range", "bytes \(place)/\(content.byteCount)")
    return answer
  }

  /// Returns the place of the only range that a request asks for; nil if the whole body answers.
  /// An empty place means that no byte of the body is in it.
  private func requestedRange(of request: Request) -> Range<Int>? {
    guard request.method == "GET", let text = request.fields["range"]?.lowercased(),
      text.hasPrefix("bytes="), fulfils(request.fields["if-range"])
    else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    let (count, first, last) = (content.byteCount, ends[0].trimmed, ends[1].trimmed)
    if first.isEmpty { return last.number.map { max(0, count - $0)..<count } }
    guard let start = first.number, let end = last.isEmpty ? Int.max - 1 : last.number, end >= start
    else { return nil }
    return start >= count ? 0..<0 : start..<min(end + 1, count)
  }

  /// Whether the condition of a range holds: a strong tag or a strong date, which is that of a
  /// change before the response was made. Source: RFC 9110, 8.8.2.2 and 13.1.5.
  private func fulfils(_ condition: String?) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("\"") { return condition == fields["etag"] }
    return condition == fields["last-modified"] && lastModified ?? .max < date
  }
}

extension HTTPCache.Response {
  /// Becomes a 304 if the request's conditions say that the client has this response already.
  ///
  /// Source: RFC 9110, 13.2.2 and 15.4.5; RFC 9111, 4.3.2.
  mutating func meetConditions(of request: Request) {
    var isKnown = false
    if request.fields.contains("if-none-match") {
      let (tags, own) = (request.fields.members(of: "if-none-match"), fields["etag"]?.opaqueTag)
      isKnown = tags.contains { $0 == "*" || $0.opaqueTag == own }
    } else if let since = request.fields["if-modified-since"],
      // A year of two digits is of a century near the date of the response.
      let date = fields.seconds("date", at: 0), let time = HTTPDate.seconds(since, at: date)
    {
      isKnown = fields.seconds("last-modified", at: date) ?? date <= time
    }
    guard isKnown, (200..<300).contains(status) else { return }
    let ofBody = ["length", "type", "encoding", "language", "range"].map { "content-\($0)" }
    self = Self(status: 304, fields: fields.removing(ofBody))
  }
}

extension String {
  /// An entity tag without its mark of weakness. Source: RFC 9110, 8.8.3.
  var opaqueTag: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}
