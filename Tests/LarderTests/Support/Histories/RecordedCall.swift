/// A call that a thread made, with the moments between which it must have taken effect.
struct RecordedCall<Call: Sendable, Outcome: Sendable>: Sendable {
  let thread: Int
  let call: Call
  let outcome: Outcome
  /// Before the call began. All moments of a history are different numbers.
  let began: Int
  /// After it ended.
  let ended: Int
}

extension RecordedCall: CustomStringConvertible {
  var description: String { "\(began)…\(ended) thread \(thread): \(call) -> \(outcome)" }
}
