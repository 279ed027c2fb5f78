import Glibc

/// Runs this executable again and reads what it measured.
enum ChildProcess {
  /// Returns the lines of a name and a number that the executable prints with some arguments.
  static func measurements(_ arguments: String) -> [(String, Double)] {
    let path = CommandLine.arguments[0].split(separator: "'", omittingEmptySubsequences: false)
    // Quoted for the shell that popen starts: the build directory may have any name.
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
