/// What histories are judged by: the subject as it would be if its calls came one after the other.
protocol SequentialModel: Hashable, Sendable {
  associatedtype Call: Sendable
  associatedtype Outcome: Sendable

  /// Makes a call, and returns whether an outcome is one that it may have.
  mutating func admits(_ outcome: Outcome, of call: Call) -> Bool
}
