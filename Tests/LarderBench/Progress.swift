import Glibc

/// What a benchmark is doing and how long it still takes, on standard error if that is a terminal.
///
/// Each step is expected to take a number of seconds on the machine of the guide Measuring. The
/// steps that are done show how much faster or slower this machine is.
final class Progress {
  private let name: String
  private let isShown = isatty(STDERR_FILENO) == 1
  private let start = ContinuousClock.now
  private let expected: Double
  private var done = 0.0
  private var current = 0.0

  init(_ name: String, seconds: Double) {
    self.name = name
    expected = seconds
    write("\(name): about \(Self.text(seconds))\n")
  }

  /// The seconds since the start.
  var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }

  /// Returns the seconds that steps take on this machine that are expected to take some seconds.
  func forecast(_ seconds: Double) -> Double {
    // At first nothing is known about the machine.
    done < 1 ? seconds : seconds * elapsed / done
  }

  /// Ends the step before and begins one.
  func begin(_ step: String, seconds: Double) {
    done += current
    current = seconds
    let rest = forecast(max(expected - done, current))
    write("\r\u{1B}[K\(name): \(step); about \(Self.text(rest)) left")
  }

  /// Removes the line.
  func end() {
    done += current
    current = 0
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    guard isShown else { return }
    let bytes = Array(text.utf8)
    unsafe _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  private static func text(_ seconds: Double) -> String {
    seconds < 90 ? "\(max(1, Int(seconds.rounded()))) s" : "\(Int((seconds / 60).rounded())) min"
  }
}
