/// A call of a thread, and the moments between which it took effect.
struct RecordedCall<Call: Sendable, Outcome: Sendable>: Sendable {
  let thread: Int
  let call: Call
  let outcome: Outcome
  /// The moment before the call. All moments of a history are different numbers.
  let began: Int
  /// The moment after the call.
  let ended: Int
}

extension RecordedCall: CustomStringConvertible {
  var description: String { "\(began)…\(ended) thread \(thread): \(call) -> \(outcome)" }
}
