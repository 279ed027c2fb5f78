@testable import Larder
@testable import LarderBasics
@testable import LarderDisk
@testable import LarderFixtures
@testable import LarderSystem

/// A line of a fixture's manifest: a name in the directory, and everything about it that git does
/// not keep.
///
/// `Fixtures/README.md` has the grammar.
struct ManifestLine: Equatable {
  enum Kind: String {
    case file, directory, fifo, socket, link
  }

  struct Malformed: Error {
    let line: String
  }

  var name: String
  var kind: Kind
  /// The permissions; nil for a link, which has none.
  var permissions: UInt32?
  /// The access time; nil if it is not checked.
  var access: Timestamp?
  var modification: Timestamp?
  var entryAttribute: [UInt8]?
  var dataAttribute: [UInt8]?
  var target: String?
}

extension ManifestLine: CustomStringConvertible {
  var description: String {
    var fields = [
      Self.spelling(ofName: name), kind.rawValue,
      permissions.map { Self.padded(String($0, radix: 8), to: 4) } ?? "-",
      Self.spelling(of: access), Self.spelling(of: modification),
    ]
    let attributes = [("user.larder", entryAttribute), ("user.larder.data", dataAttribute)]
    for (name, value) in attributes {
      guard let value else { continue }
      fields.append("\(name)=\"\(EscapedText.spelling(of: value))\"")
    }
    if let target { fields += ["->", Self.spelling(ofName: target)] }
    return fields.joined(separator: " ")
  }

  /// Spells a name, of which spaces and everything past ASCII are escaped as well.
  private static func spelling(ofName name: String) -> String {
    name.utf8.map { byte in
      byte < 0x80 && byte != 0x20
        ? EscapedText.spelling(of: [byte]) : "\\x" + byte.digits(2, radix: 16)
    }.joined()
  }

  /// Reads what `EscapedText` spells.
  private static func bytes(of text: Substring) throws -> [UInt8] {
    guard let bytes = EscapedText.bytes(of: text.utf8) else { throw Malformed(line: String(text)) }
    return bytes
  }

  private static func spelling(of stamp: Timestamp?) -> String {
    guard let stamp else { return "-" }
    return "\(stamp.seconds)." + padded(String(stamp.nanoseconds), to: 9)
  }

  private static func padded(_ digits: String, to count: Int) -> String {
    String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}

extension ManifestLine {
  private typealias Fields = (
    Substring, name: Substring, kind: Substring, permissions: Substring, access: Substring,
    modification: Substring, entry: Substring?, data: Substring?, target: Substring?
  )

  private static var pattern: Regex<Fields> {
    #/
    (?<name>\S+)\ (?<kind>\w+)\ (?<permissions>\S+)\ (?<access>\S+)\ (?<modification>\S+)
    (?:\ user\.larder="(?<entry>[^"]*)")?
    (?:\ user\.larder\.data="(?<data>[^"]*)")?
    (?:\ ->\ (?<target>\S+))?
    /#
  }

  /// Parses a line.
  init(_ line: some StringProtocol) throws {
    let line = String(line)
    guard let fields = try Self.pattern.wholeMatch(in: line)?.output,
      let kind = Kind(rawValue: String(fields.kind))
    else { throw Malformed(line: line) }
    self.kind = kind
    name = String(decoding: try Self.bytes(of: fields.name), as: UTF8.self)
    permissions = fields.permissions == "-" ? nil : UInt32(fields.permissions, radix: 8)
    access = try Self.stamp(fields.access)
    modification = try Self.stamp(fields.modification)
    entryAttribute = try fields.entry.map { try Self.bytes(of: $0) }
    dataAttribute = try fields.data.map { try Self.bytes(of: $0) }
    target = try fields.target.map { String(decoding: try Self.bytes(of: $0), as: UTF8.self) }
  }

  private static func stamp(_ text: Substring) throws -> Timestamp? {
    if text == "-" { return nil }
    let parts = text.split(separator: ".")
    guard parts.count == 2, parts[1].count == 9, let seconds = Int64(parts[0]),
      let nanoseconds = Int64(parts[1])
    else { throw Malformed(line: String(text)) }
    return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
  }
}
