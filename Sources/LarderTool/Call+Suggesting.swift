import Larder

extension Call {
  /// Names the next command, where a person reads both streams.
  ///
  /// On stderr, so that what is copied from stdout has none of it.
  func suggest(_ verb: String, _ rest: String = "", _ why: String) {
    guard console.isTerminal, console.showsProgress, !isJSON else { return }
    guard let directory = shellDirectory else { return }
    let command = ["larder", verb, directory, rest].filter { !$0.isEmpty }.joined(separator: " ")
    // The command can be pasted whole or not at all; the reason only if there is room.
    let line = "next: \(command)  # \(why)"
    let isShort = line.displayWidth <= console.width ?? .max
    console.talk(console.style.dim(isShort ? line : "next: \(command)") + "\n")
  }

  /// DIR as a word of a shell; nil for one that could not be pasted back.
  private var shellDirectory: String? {
    let word = CacheKey(arguments.directory).shellWord
    return word.map { arguments.directory.first == UInt8(ascii: "-") ? "./\($0)" : $0 }
  }
}

extension CacheKey {
  /// The key as a word of a shell; nil for one that could not be pasted back.
  var shellWord: String? {
    guard let text = String(validating: bytes, as: UTF8.self),
      !text.unicodeScalars.contains(where: \.isUnsafeForDisplay)
    else { return nil }
    return text.shellWord
  }
}
