import Larder
import LarderFixtures

/// What git's attributes say of the files in a directory, as far as they keep git from changing
/// one: whether it may convert the bytes, and whether it may merge two contents.
///
/// Reads plain lines: a pattern and the attributes `text`, `merge`, `binary`, `filter`, `ident` and
/// `working-tree-encoding`. A macro of a repository's own is unknown, and changes nothing. See:
/// man 5 gitattributes.
struct GitAttributes: Sendable {
  fileprivate struct Line: Sendable {
    let pattern: [UInt8]
    /// Where the pattern begins to count: at the directory of its file.
    let directory: [UInt8]
    let attributes: [Substring]
  }

  private var lines: [Line] = []

  /// Adds the lines of a file, which count for more than those before.
  ///
  /// - Parameter path: The path of the described directory below that of the file: empty, or with a
  ///   slash at its end.
  mutating func add(_ text: String, below path: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
      var rest = line.drop(while: isSpace)
      if rest.isEmpty || rest.hasPrefix("#") { continue }
      // In quotes a pattern can have spaces.
      let isQuoted = rest.first == "\"" && rest.dropFirst().contains("\"")
      if isQuoted { rest.removeFirst() }
      let pattern = rest.prefix { isQuoted ? $0 != "\"" : !isSpace($0) }
      let words = rest.dropFirst(pattern.count + (isQuoted ? 1 : 0)).split(whereSeparator: isSpace)
      lines.append(
        Line(pattern: Array(pattern.utf8), directory: Array(path.utf8), attributes: words))
    }
  }

  /// Whether git neither converts nor merges the file of a name.
  func protect(_ name: String) -> Bool { harms(to: name).isEmpty }

  /// Whether git does not convert the file of a name.
  func keepBytes(of name: String) -> Bool { harms(to: name).isSubset(of: ["merge"]) }

  /// The attributes by which git changes a file where no line forbids it, and those by which it
  /// does where a line says so.
  private static let (defaults, others): (Set<Substring>, Set<Substring>) = (
    ["text", "merge"], ["filter", "ident", "working-tree-encoding"]
  )

  /// Returns the attributes by which git may change the file of a name.
  private func harms(to name: String) -> Set<Substring> {
    var harms = Self.defaults
    for line in lines where line.matches(Array(name.utf8)) {
      for word in line.attributes {
        let attribute = word.drop { "-!".contains($0) }.prefix { $0 != "=" }
        let isOther = Self.others.contains(attribute)
        if word == "binary" {
          harms.subtract(Self.defaults)
        } else if word.hasPrefix("-") || isOther && word.hasPrefix("!") || word == "merge=binary" {
          harms.remove(attribute)
        } else if isOther || Self.defaults.contains(attribute) {
          harms.insert(attribute)
        }
      }
    }
    return harms
  }
}

extension GitAttributes.Line {
  /// Whether the pattern fits a file: its name alone if there is no slash, else its path.
  func matches(_ name: [UInt8]) -> Bool {
    let slash = UInt8(ascii: "/")
    guard pattern.contains(slash) else { return Self.fits(name[...], pattern[...]) }
    return Self.fits((directory + name)[...], pattern[(pattern.first == slash ? 1 : 0)...])
  }

  /// Whether a path fits a pattern of `*`, `?`, `[…]`, `\` and, as a whole part, `**`.
  ///
  /// - Parameter isPart: Whether a part between slashes begins with the pattern.
  private static func fits(
    _ path: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>, isPart: Bool = true
  ) -> Bool {
    let slash = UInt8(ascii: "/")
    guard let head = pattern.first else { return path.isEmpty }
    var (rest, isFitting) = (pattern.dropFirst(), false)
    switch head {
    case UInt8(ascii: "*"):
      rest = pattern.drop { $0 == head }
      let isLong = isPart && pattern.count - rest.count == 2 && (rest.first ?? slash) == slash
      // `**/` fits no part as well.
      if isLong, !rest.isEmpty, fits(path, rest.dropFirst()) { return true }
      var left = path
      while !fits(left, rest, isPart: false) {
        guard let byte = left.popFirst(), isLong || byte != slash else { return false }
      }
      return true
    case UInt8(ascii: "["):
      guard let byte = path.first, let (isIn, behind) = set(rest, byte) else { return false }
      (rest, isFitting) = (behind, isIn && byte != slash)
    case UInt8(ascii: "?"): isFitting = path.first.map { $0 != slash } ?? false
    case UInt8(ascii: "\\"): isFitting = path.first == rest.popFirst()
    default: isFitting = path.first == head
    }
    return isFitting && fits(path.dropFirst(), rest, isPart: head == slash)
  }

  /// Returns whether a byte is in the set that begins a pattern, and the pattern behind the set.
  private static func set(
    _ pattern: ArraySlice<UInt8>, _ byte: UInt8
  ) -> (isIn: Bool, rest: ArraySlice<UInt8>)? {
    var rest = pattern
    let isOthers = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
    if isOthers { rest = rest.dropFirst() }
    guard let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "]")) else { return nil }
    var (members, isIn) = (rest[..<end], false)
    while let low = members.popFirst() {
      var high = low
      if members.count > 1, members.first == UInt8(ascii: "-") {
        high = members[members.startIndex + 1]
        members = members.dropFirst(2)
      }
      if low <= byte && byte <= high { isIn = true }
    }
    return (isIn != isOthers, rest[(end + 1)...])
  }
}

extension FixtureDirectory {
  /// Returns what the `.gitattributes` of the directory and of those above it say, up to the root
  /// of the repository. Settings that are not checked in do not count.
  func gitAttributes() throws(Errno) -> GitAttributes {
    var attributes = GitAttributes()
    let parts = try handle.resolvedPath(openedAs: path).split(separator: "/")
    var above: [(String, String)] = []
    for count in stride(from: parts.count, through: 0, by: -1) {
      let directory = "/" + parts[..<count].joined(separator: "/")
      let below = parts[count...].map { "\($0)/" }.joined()
      if count < parts.count { above.append((try Self.text(in: directory), below)) }
      guard try Path(directory).appending(".git").isTaken() else { continue }
      for (text, path) in above.reversed() { attributes.add(text, below: path) }
      break
    }
    attributes.add(try handle.text(of: Self.gitAttributesName) ?? "", below: "")
    return attributes
  }

  /// Returns the text of the settings in a directory above; an empty one if it cannot be read, as
  /// git takes it, or be named, as below a name that is not UTF-8.
  private static func text(in directory: String) throws(Errno) -> String {
    do throws(Errno) {
      let handle = try DirectoryHandle.open(path: directory, faults: nil)
      return try handle.text(of: gitAttributesName) ?? ""
    } catch .permissionDenied, .tooManyLinks, .invalidArgument, .noSuchFile {
      return ""
    }
  }
}
