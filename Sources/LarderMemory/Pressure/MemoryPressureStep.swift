/// What is to be done about memory's being short.
public enum MemoryPressureStep: Sendable, Hashable {
  /// Give up a share of what is held, above 0 and below 1, and hold no more than the rest.
  case reduce(share: Double)
  /// Give up everything, and hold no more than the last reduction allowed.
  case empty
  /// Memory is no longer short: hold what the settings allow.
  case restore
}
