@testable import LarderDisk

extension EngineObserver {
  /// Does nothing, as is right for an observer that keeps nothing of the caller's.
  func letGo() {}

  /// Does nothing, as is right for an observer that loads nothing.
  func supersedeLoads(where isRemoved: (Subject) -> Bool) -> [Subject] { [] }
}
