import Larder

/// The writer of a report as one HTML page that loads no other file.
///
/// The policy in its head allows one style and one script, by their digests. The script inserts the
/// data as text only.
struct ReportPage {
  private var pending: [UInt8] = []

  /// Writes the page in pieces of about 64 KiB, so that memory does not grow with the entries.
  mutating func write(
    _ content: ReportContent, to output: borrowing OutputFile
  ) throws(Errno) {
    let data = ReportData(content)
    pending += (Self.head + ReportMarkup.body).utf8
    pending += "<script type=\"application/json\" id=\"data\">\(data.head)".utf8
    for (index, (entry, fate)) in zip(content.entries, content.fates).enumerated() {
      if index > 0 { pending += ",\n".utf8 }
      data.append(entry, fate, isUnused: content.inventory.unused[index], to: &pending)
      if pending.count > 64 << 10 { try flush(to: output) }
    }
    pending += "\(ReportData.tail)</script>\n".utf8
    pending += "<script>\(ReportScript.text)</script>\n</body>\n</html>\n".utf8
    try flush(to: output)
  }

  private mutating func flush(to output: borrowing OutputFile) throws(Errno) {
    try output.write(pending.span)
    pending.removeAll(keepingCapacity: true)
  }

  /// The head. The policy is first, because it governs only what follows it.
  private static var head: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="\(policy)">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <title>Larder report</title>
    <style>\(ReportStyle.text)</style>
    </head>

    """
  }

  /// The policy that allows the page's own style and script only. Source: Content Security Policy
  /// Level 3.
  static var policy: String {
    "default-src 'none'; style-src \(source(ReportStyle.text)); "
      + "script-src \(source(ReportScript.text)); base-uri 'none'; form-action 'none'"
  }

  /// Returns the source expression for an inline element, by the digest of its text.
  private static func source(_ text: String) -> String {
    "'sha256-\(Base64.text(of: SHA256.digest(of: Array(text.utf8))))'"
  }
}
