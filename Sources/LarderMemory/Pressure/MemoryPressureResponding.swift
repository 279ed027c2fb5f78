/// What gives memory up when it is short: the memory tier, a cache with two tiers, or a type of
/// your own.
public protocol MemoryPressureResponding: AnyObject, Sendable {
  /// Does what a step says. Called on the monitor's thread, one step after the other.
  func respond(to step: MemoryPressureStep)
}
