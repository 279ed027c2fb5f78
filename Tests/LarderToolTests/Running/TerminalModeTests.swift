import Foundation
import Glibc
import LarderTestSupport
import Testing

/// A command that runs on a pseudo-terminal with a keyboard.
private final class TerminalSession {
  let process = Process()
  private let master: FileHandle
  /// A second handle of the terminal, by which its mode is read.
  private let terminal: FileHandle
  private let former: tcflag_t
  private(set) var text = ""

  init(_ scene: Scene, _ arguments: [String], terminal kind: String = "xterm") throws {
    (master, terminal) = try Scene.openTerminal(columns: 80)
    _ = fcntl(master.fileDescriptor, F_SETFL, O_NONBLOCK)
    process.executableURL = Scene.program
    process.arguments = arguments
    process.currentDirectoryURL = scene.root
    process.environment = [
      "TERM": kind, "HOME": scene.root.path, "TMPDIR": scene.root.path,
    ]
    process.standardInput = terminal
    process.standardOutput = terminal
    process.standardError = terminal
    former = Self.flags(of: terminal)
    // A thread of Dispatch blocks signals, and a process that it starts inherits that.
    var (none, blocked) = (sigset_t(), sigset_t())
    _ = unsafe pthread_sigmask(SIG_SETMASK, &none, &blocked)
    defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil) }
    // A shell lets what it starts in the background ignore SIGINT, and `nohup` SIGHUP, which a
    // process that is started from here would inherit.
    let signals = [SIGINT, SIGHUP]
    let handlers = signals.map { signal($0, SIG_DFL) }
    defer { for (number, handler) in zip(signals, handlers) { signal(number, handler) } }
    try process.run()
  }

  private static func flags(of terminal: FileHandle) -> tcflag_t {
    var mode = termios()
    return unsafe tcgetattr(terminal.fileDescriptor, &mode) == 0 ? mode.c_lflag : 0
  }

  /// Whether the terminal has the mode that it had before.
  var isAsBefore: Bool { Self.flags(of: terminal) == former }

  /// Whether the process is stopped.
  var isStopped: Bool {
    let status = try? String(
      contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
    return status?.contains(") T ") == true
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  func type(_ keys: String) throws { try master.write(contentsOf: Data(keys.utf8)) }

  /// Reads what there is, and returns the number of occurrences of a text so far.
  func count(of words: String) -> Int {
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe Glibc.read(master.fileDescriptor, &piece, piece.count)
      if count <= 0 { break }
      text += String(decoding: piece[..<count], as: UTF8.self)
    }
    return text.components(separatedBy: words).count - 1
  }

  /// Waits for the end and returns the status, or the number of the signal as a negative number.
  func end() -> Int32 {
    process.waitUntilExitPatiently()
    return process.terminationReason == .uncaughtSignal
      ? -process.terminationStatus : process.terminationStatus
  }
}

@Suite(.watched)
struct `The mode of a terminal` {
  let scene: Scene

  init() throws {
    scene = try Scene()
    try scene.put("v", "k")
  }
}

extension `The mode of a terminal` {
  private func session(
    _ verb: String, _ directory: String = "c"
  ) throws -> TerminalSession {
    let session = try TerminalSession(scene, [verb, directory])
    try eventually("\(verb) to draw") { session.count(of: "q ends") > 0 && !session.isAsBefore }
    return session
  }

  @Test(arguments: [("top", SIGINT), ("top", SIGTERM), ("top", SIGHUP), ("watch", SIGTERM)])
  func `is restored by a signal that ends the command`(verb: String, signal: Int32) throws {
    let session = try session(verb)
    session.send(signal)
    #expect(session.end() == -signal)
    #expect(session.isAsBefore)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `is restored, and the copy of a fixture removed, by a signal`(signal: Int32) throws {
    _ = try scene.run("record", "f", "abc", input: Data("hello".utf8))
    let session = try session("top", "f")
    #expect(try scene.names(in: ".").count == 3)
    session.send(signal)
    #expect(session.end() == -signal)
    #expect(session.isAsBefore)
    #expect(try scene.names(in: ".") == ["c", "f"])
  }

  @Test(arguments: ["top", "watch"])
  func `is restored by a stop, and set again when the command goes on`(verb: String) throws {
    let session = try session(verb)
    session.send(SIGTSTP)
    try eventually("\(verb) to stop") { session.isStopped }
    #expect(session.isAsBefore)
    let drawn = session.count(of: "q ends")
    session.send(SIGCONT)
    try eventually("\(verb) to draw again") {
      session.count(of: "q ends") > drawn && !session.isAsBefore
    }
    try session.type("q")
    #expect(session.end() == 0)
    #expect(session.isAsBefore)
  }

  @Test func `does not matter where lines cannot be drawn again`() throws {
    let outcome = try scene.runOnTerminal(["top", "c"], environment: ["TERM": "dumb"], typing: "q")
    #expect(outcome.status == 0 && outcome.text.contains("1 entry, 1 B"))
    #expect(!outcome.text.contains("\u{1b}"))
  }

  @Test func `stays as it is under watch where lines cannot be drawn again`() throws {
    let session = try TerminalSession(scene, ["watch", "c", "-n", "3"], terminal: "dumb")
    // The begin of the watching is not visible from outside, so values come until it ends.
    try eventually("three events") {
      _ = try scene.run("put", "c", "new", input: Data("value".utf8))
      return session.count(of: "new") >= 3
    }
    #expect(session.end() == 0)
    _ = session.count(of: "new")
    #expect(!session.text.contains("\u{1b}") && session.isAsBefore)
  }

  @Test func `is restored when top ends because its directory is gone`() throws {
    let session = try session("top")
    _ = try scene.shell("rm -r c")
    #expect(session.end() == 3)
    #expect(session.count(of: "the directory is gone") == 1 && session.isAsBefore)
  }
}
