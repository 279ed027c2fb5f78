import Glibc

/// A child process of this executable, with a pipe to it and a pipe from it.
struct StressChild {
  let process: pid_t
  private let input: Int32
  private let output: Int32

  /// The error for a child that could not be started.
  struct Failure: Error {
    let errno: Int32
  }

  /// Starts a child with its arguments. It shares this process's error stream.
  init(_ arguments: [String]) throws {
    let (ours, theirs) = (try Self.pipe(), try Self.pipe())
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, theirs.reading, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, ours.writing, STDOUT_FILENO)
    let path = "/proc/self/exe"
    var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map {
      unsafe strdup($0)
    }
    unsafe words.append(nil)
    defer { unsafe words.forEach { unsafe free($0) } }
    var process = pid_t()
    let code = unsafe posix_spawn(&process, path, &actions, nil, words, environ)
    guard code == 0 else { throw Failure(errno: code) }
    close(theirs.reading)
    close(ours.writing)
    self.process = process
    input = theirs.writing
    output = ours.reading
  }

  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    // Closed on exec, because an end inherited by another child would keep the reader waiting.
    guard unsafe Glibc.pipe(&ends) == 0 else { throw Failure(errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Writes a line to the child.
  func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe write(input, bytes, bytes.count)
  }

  /// Reads the child's next line; nil if the child has ended.
  func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  /// Waits for a line. Any other line, or none, ends the run.
  func expect(_ line: String) {
    let found = readLine()
    guard found != line else { return }
    fail("a process said \(found ?? "nothing") instead of \(line)", 4)
  }

  /// Waits for the child's end, and returns whether it succeeded.
  func wait() -> Bool {
    close(input)
    close(output)
    var status: Int32 = 0
    return unsafe waitpid(process, &status, 0) == process && status == 0
  }
}
