/// A writer of JSON in pieces, so that a list of a million entries is never one value or one text.
///
/// The text collects until `takeText()` returns it. The indentation is two spaces; an empty array
/// or object stays on its line.
struct JSONWriter: Sendable {
  private var text = ""
  /// The closing bracket of each open array or object, and whether it has content.
  private var open: [(bracket: String, hasContent: Bool)] = []
  private var isAfterName = false

  /// Returns and forgets the text that was written since the last call.
  mutating func takeText() -> String {
    defer { text = "" }
    return text
  }

  /// The bytes that `takeText()` would return.
  var pendingByteCount: Int { text.utf8.count }

  /// Writes a value: the document, an element of the open array, or the value of a name.
  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: append("null")
    case .bool(let bool): append(bool ? "true" : "false")
    case .integer(let number): append(String(number))
    case .string(let string): append(string.quotedForJSON)
    case .array(let elements):
      beginArray()
      for element in elements { write(element) }
      end()
    case .object(let members):
      beginObject()
      for member in members { write(member.name, member.value) }
      end()
    }
  }

  /// Writes a member of the open object.
  mutating func write(_ name: String, _ value: JSONValue) {
    write(name: name)
    write(value)
  }

  /// Writes a member's name. Its value has to follow.
  mutating func write(name: String) {
    append(name.quotedForJSON + ": ")
    isAfterName = true
  }

  /// Opens an array.
  mutating func beginArray() { begin("[", "]") }

  /// Opens an object.
  mutating func beginObject() { begin("{", "}") }

  /// Closes the innermost array or object.
  mutating func end() {
    // A surplus end is a mistake of the caller, which a malformed text shows at once.
    guard let closed = open.popLast() else { return }
    if closed.hasContent { breakLine() }
    text += closed.bracket
  }

  private mutating func begin(_ opening: String, _ closing: String) {
    append(opening)
    open.append((closing, false))
  }

  /// Writes the first piece of a value or a name, after the comma and the line break that it needs.
  private mutating func append(_ piece: String) {
    if !isAfterName, let last = open.indices.last {
      if open[last].hasContent { text += "," }
      open[last].hasContent = true
      breakLine()
    }
    isAfterName = false
    text += piece
  }

  private mutating func breakLine() {
    text += "\n" + String(repeating: "  ", count: open.count)
  }
}
