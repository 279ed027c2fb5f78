import Larder

extension DemoReport {
  /// The directory as `ls -lnu` shows it: the time is that of the last use.
  var listing: [String] {
    let shown = entries.prefix(6)
    let width = shown.map { String($0.byteCount).count }.max() ?? 0
    let rows = shown.map { entry in
      let size = String(entry.byteCount).aligned(toWidth: width)
      return "   -rw------- \(size) \(LocalTime(entry.lastAccess).listText) \(entry.name)"
    }
    let rest = entries.count - shown.count
    return [style.bold("4. The directory, as ls -lu shows it"), ""] + rows
      + (rest > 0 ? ["   ... and \(rest) more"] : [])
  }

  /// Commands that show the reader that all this is true.
  var looking: [String] {
    let directory = Self.word(figures.directory)
    let key = example?.key?.text ?? ""
    let commands = [
      ("when each value was last used", "ls -lu \(directory)"),
      ("when each value expires", "ls -l --time-style=long-iso \(directory)"),
      ("what has not expired", "find \(directory) -type f -newermt now | wc -l"),
      ("the name of a key's file", "printf %s \(key.shellWord) | md5sum"),
      ("all that is known", "\(Self.word(program)) list --sort size \(directory)"),
    ]
    return [style.bold("5. Look for yourself"), ""]
      + commands.flatMap { [style.dim("   # \($0.0)"), "   \($0.1)"] }
  }

  /// A word of a shell that no terminal obeys, whatever the environment has put into the text.
  private static func word(_ text: String) -> String {
    text.isSafeForDisplay ? text.shellWord : text.pasteableWord
  }

  /// The entry that the md5sum is shown of: the first in the list whose key can be typed.
  private var example: DiskEntry? {
    entries.first { entry in
      guard let text = entry.key?.text else { return false }
      return !text.unicodeScalars.contains(where: \.isUnsafeForDisplay)
    }
  }
}

extension LocalTime {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The time as `ls` writes a recent one: `Nov 21 09:05`.
  var listText: String {
    let dayText = String(day).aligned(toWidth: 2)
    return "\(Self.months[month - 1]) \(dayText) \(Self.two(hour)):\(Self.two(minute))"
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
