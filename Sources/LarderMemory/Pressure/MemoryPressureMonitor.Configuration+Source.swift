package import LarderSystem

extension MemoryPressureMonitor.Configuration {
  /// What there is to watch.
  package enum Opening: ~Copyable {
    case opened(PressureSource, MemoryPressureStatus.Source)
    case failed(MemoryPressureStatus.Source)
  }

  /// Opens the first file that may be watched.
  func openSource() -> Opening {
    openSource(scope == .machine ? [] : PressureFile.ownGroup, or: PressureFile.machine)
  }

  /// Opens the first of some files that may be watched; when none may, the last says why.
  func openSource(_ files: [String], or last: String) -> Opening {
    for path in files {
      // A group's file is absent in version 1 and mostly read-only in containers.
      do throws(Errno) { return try open(path) } catch { continue }
    }
    do throws(Errno) {
      return try open(last)
    } catch {
      return .failed(.none(reason: "\(last): \(error)"))
    }
  }

  private func open(_ path: String) throws(Errno) -> Opening {
    .opened(
      try PressureFile.trigger(path, threshold: threshold, window: window), .file(path))
  }
}
