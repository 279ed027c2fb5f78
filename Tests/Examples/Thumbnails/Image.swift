import Larder

/// An image of 8-bit red, green and blue.
struct Image: Sendable, Equatable {
  var width: Int
  var height: Int
  var pixels: [UInt8]

  /// The error for bytes that are no binary PPM.
  struct Unreadable: Error {}

  /// The coder for images in the format PPM, so that image viewers can show the cached files.
  static let coder = Coder<Image>(
    encode: { Array("P6\n\($0.width) \($0.height)\n255\n".utf8) + $0.pixels },
    decode: { try Image(ppm: $0) })

  init(width: Int, height: Int, pixels: [UInt8]) {
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// Parses a binary PPM without comments.
  init(ppm: [UInt8]) throws {
    let fields = ppm.split(maxSplits: 4, omittingEmptySubsequences: false) { $0 == 10 || $0 == 32 }
    let numbers = fields.dropFirst().prefix(3).map { Int(String(decoding: $0, as: UTF8.self)) }
    guard fields.count == 5, fields[0].elementsEqual("P6".utf8), let width = numbers[0],
      let height = numbers[1], numbers[2] == 255, width > 0, height > 0,
      width <= 1 << 16, height <= 1 << 16, fields[4].count == width * height * 3
    else { throw Unreadable() }
    self.init(width: width, height: height, pixels: Array(fields[4]))
  }

  /// Returns the image in a smaller width, or as it is. Each pixel is the mean of the old pixels it
  /// covers.
  func scaled(toWidth newWidth: Int) -> Image {
    guard newWidth < width else { return self }
    let newHeight = max(1, height * newWidth / width)
    var scaled = [UInt8](repeating: 0, count: newWidth * newHeight * 3)
    for y in 0..<newHeight {
      let rows = Self.span(y, of: newHeight, over: height)
      for x in 0..<newWidth {
        let columns = Self.span(x, of: newWidth, over: width)
        for color in 0..<3 {
          let sum = rows.reduce(0) { sum, row in
            columns.reduce(sum) { $0 + Int(pixels[(row * width + $1) * 3 + color]) }
          }
          scaled[(y * newWidth + x) * 3 + color] = UInt8(sum / (rows.count * columns.count))
        }
      }
    }
    return Image(width: newWidth, height: newHeight, pixels: scaled)
  }

  /// Returns the old positions that a new one covers, at least one.
  private static func span(_ index: Int, of count: Int, over oldCount: Int) -> Range<Int> {
    let start = index * oldCount / count
    return start..<max(start + 1, (index + 1) * oldCount / count)
  }
}
