import Glibc

/// This executable run again, with a pipe to it and a pipe from it.
struct StressChild {
  private let process: pid_t
  private let input: Int32
  private let output: Int32

  /// A child that could not be started.
  struct Failure: Error {
    let errno: Int32
  }

  /// Starts a child with its arguments; what it writes to the error stream is seen as ours.
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
    // Only what is meant for a child reaches it: an end left open would keep its reader waiting.
    guard unsafe Glibc.pipe(&ends) == 0 else { throw Failure(errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Writes a line to the child.
  func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe write(input, bytes, bytes.count)
  }

  /// The child's next line, nil when it has ended.
  func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  /// Waits for a line; another one, or none, ends the run.
  func expect(_ line: String) {
    let found = readLine()
    guard found != line else { return }
    fail("a process said \(found ?? "nothing") instead of \(line)", 4)
  }

  /// Waits for the child's end and returns whether it was a good one.
  func wait() -> Bool {
    close(input)
    close(output)
    var status: Int32 = 0
    return unsafe waitpid(process, &status, 0) == process && status == 0
  }
}
