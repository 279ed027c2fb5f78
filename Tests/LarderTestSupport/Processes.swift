import Foundation

/// The child processes of this process.
enum Processes {
  /// Sends a signal to a process and to all its descendants.
  static func kill(_ process: pid_t, _ signal: Int32) {
    // Children first, because they lose their parent when it ends.
    for child in children(of: process) { kill(child, signal) }
    _ = Foundation.kill(process, signal)
  }

  /// Returns the children of a process, as the kernel lists them.
  static func children(of process: pid_t) -> [pid_t] {
    names(in: "/proc/\(process)/task").flatMap { thread in
      text("/proc/\(process)/task/\(thread)/children").split(separator: " ").compactMap {
        pid_t($0)
      }
    }
  }

  /// Returns the command line of a process, and the kernel function in which each thread waits.
  static func description(of process: pid_t) -> String {
    let line = text("/proc/\(process)/cmdline").replacing("\0", with: " ")
    let threads = names(in: "/proc/\(process)/task").sorted().map { thread in
      let folder = "/proc/\(process)/task/\(thread)"
      let status = text("\(folder)/stat").split(separator: ")").last?.prefix(2) ?? ""
      let name = text("\(folder)/comm").replacing("\n", with: "")
      return "\n    \(thread) \(name)\(status) \(text("\(folder)/wchan"))"
    }
    return "\(process) \(line)" + threads.joined()
  }

  private static func names(in folder: String) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      return []  // The process is gone.
    }
  }

  private static func text(_ path: String) -> String {
    guard let file = FileHandle(forReadingAtPath: path) else { return "" }
    do {
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    } catch {
      return ""
    }
  }
}
