import Foundation
import Glibc
import LarderTestSupport
import Testing

/// The outcome of a command on a terminal of so many columns.
struct TerminalOutcome {
  let status: Int32
  /// The text of both streams on the terminal, without carriage returns before line feeds.
  let text: String

  var lines: [String] { text.split(separator: "\n").map(String.init) }
}

extension Scene {
  /// Runs the command with both its streams on a pseudo-terminal.
  ///
  /// - Parameter typing: The keys that are typed from the beginning; nil for no keyboard.
  func runOnTerminal(
    _ arguments: [String], columns: UInt16 = 80, environment: [String: String] = [:],
    typing keys: String? = nil
  ) throws -> TerminalOutcome {
    let (master, terminal) = try Self.openTerminal(columns: columns)
    let process = Process()
    process.executableURL = Self.program
    process.arguments = arguments
    process.currentDirectoryURL = root
    process.environment = ["TERM": "xterm", "HOME": root.path, "LC_ALL": "C.UTF-8"]
      .merging(environment) { $1 }
    process.standardInput = keys == nil ? FileHandle.nullDevice : terminal
    process.standardOutput = terminal
    process.standardError = terminal
    try process.run()
    // The keys wait in the terminal until the command reads them.
    if let keys { try master.write(contentsOf: Data(keys.utf8)) }
    try terminal.close()
    let output = process.waitPatiently {
      let output = Self.readToEnd(of: master)
      process.waitUntilExit()
      return output
    }
    let text = String(decoding: output, as: UTF8.self).replacing("\r\n", with: "\n")
    return TerminalOutcome(status: process.terminationStatus, text: text)
  }

  /// Reads the output. Its end is the error EIO, when no process has the other side open.
  private static func readToEnd(of master: FileHandle) -> [UInt8] {
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe Glibc.read(master.fileDescriptor, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { return output }
      output += piece[..<count]
    }
  }

  static func openTerminal(columns: UInt16) throws -> (FileHandle, FileHandle) {
    // The work of posix_openpt, unlockpt and ptsname, which Glibc's module lacks. See: man 2
    // ioctl_tty.
    let (unlock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
    let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, number): (Int32, Int32) = (0, 0)
    guard master >= 0, unsafe ioctl(master, unlock, &locked) == 0,
      unsafe ioctl(master, getNumber, &number) == 0
    else { throw CocoaError(.fileReadUnknown) }
    let terminal = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard terminal >= 0, unsafe ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0 else {
      throw CocoaError(.fileReadUnknown)
    }
    return (
      FileHandle(fileDescriptor: master, closeOnDealloc: true),
      FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
    )
  }
}
