import LarderMemory

extension Cache: MemoryPressureResponding {
  /// Lets the memory tier give memory up, or take the right to it back; the disk keeps its values.
  public func respond(to step: MemoryPressureStep) {
    memory.respond(to: step)
  }
}
