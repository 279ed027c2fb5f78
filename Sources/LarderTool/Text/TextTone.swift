/// How a piece of text is set off, by the number that a terminal knows it by. Source: ECMA-48, SGR.
///
/// The eight basic colours only: every terminal has them, and its owner has chosen what they look
/// like on its background.
enum TextTone: Int, Sendable, Hashable {
  case plain = 0
  case bold = 1
  case dim = 2
  case red = 31
  case green = 32
  case yellow = 33
  case blue = 34
  case cyan = 36
}
