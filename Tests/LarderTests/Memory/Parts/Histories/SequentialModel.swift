/// A model of a subject without concurrency, by which histories are judged.
protocol SequentialModel: Hashable, Sendable {
  associatedtype Call: Sendable
  associatedtype Outcome: Sendable

  /// Applies a call, and returns whether it may have the outcome.
  mutating func admits(_ outcome: Outcome, of call: Call) -> Bool
}
