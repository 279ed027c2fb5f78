import Glibc

/// A child process of this executable that measures.
enum ChildProcess {
  /// Runs the executable with some arguments. Returns the names and numbers that it prints, one
  /// pair a line.
  static func measurements(_ arguments: String) -> [(String, Double)] {
    let path = CommandLine.arguments[0].split(separator: "'", omittingEmptySubsequences: false)
    // Quoted, because popen starts a shell and the path of the build directory may contain any
    // character.
    let command = "'" + path.joined(separator: "'\\''") + "' " + arguments
    guard let pipe = unsafe popen(command, "r") else { return [] }
    var lines: [(String, Double)] = []
    var buffer = [CChar](repeating: 0, count: 256)
    while unsafe fgets(&buffer, 256, pipe) != nil {
      let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
      if words.count == 2, let value = Double(words[1]) { lines.append((String(words[0]), value)) }
    }
    let status = unsafe pclose(pipe)
    precondition(status == 0, "the measuring process failed: \(command)")
    return lines
  }
}
