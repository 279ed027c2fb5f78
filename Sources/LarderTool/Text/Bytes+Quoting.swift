import Larder

extension Collection<UInt8> {
  /// The bytes escaped, between single quotes, and cut to what a message can bear.
  ///
  /// Keys of 128 KiB come as arguments; a message shows the first 48 columns of them.
  var quotedForDisplay: String {
    let limit = 48
    let text = prefix(4 * limit).escapedForDisplay
    let shown = text.truncated(toWidth: limit)
    return count > 4 * limit && shown == text ? "'\(shown)\u{2026}'" : "'\(shown)'"
  }
}
