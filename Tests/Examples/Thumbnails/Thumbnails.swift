import Foundation
import Larder

/// A program for thumbnails of PPM images: `Thumbnails WIDTH IMAGE…` writes `IMAGE.thumb.ppm`
/// beside each.
///
/// All thumbnails are requested at once. An image that is named twice is scaled once, because of
/// single flight. The next run, of this or another process, finds the thumbnails on disk. The last
/// line gives the totals: `12 wanted, 3 made`.
@main
struct Thumbnails {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let width = arguments.first.flatMap({ Int($0) }), width > 0, arguments.count > 1
    else { print("usage: Thumbnails WIDTH IMAGE…"); exit(2) }
    let cache = try Cache(named: "thumbnails", coder: Image.coder)
    let paths = Array(arguments.dropFirst())
    try await withThrowingTaskGroup { group in
      for path in paths {
        group.addTask {
          let thumbnail = try await cache.thumbnail(of: path, width: width)
          try Data(Image.coder.encode(thumbnail)).write(to: URL(filePath: "\(path).thumb.ppm"))
        }
      }
      try await group.waitForAll()
    }
    print("\(paths.count) wanted, \(cache.statistics.disk.stores) made")
    try await cache.close()
  }
}

extension Cache<Image> {
  /// Returns the scaled image at a path. A changed image has another key.
  func thumbnail(of path: String, width: Int) async throws -> Image {
    let facts = try FileManager.default.attributesOfItem(atPath: path)
    let time = (facts[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
    let whole = URL(filePath: path).standardizedFileURL.path
    let image = CacheKey(joining: [whole, "\(time)", "\(facts[.size] ?? "")"])
    let key = CacheKey(image, variant: "\(width)")
    return try await value(forKey: key, expiration: .days(90)) {
      let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
      return try Image(ppm: bytes).scaled(toWidth: width)
    }
  }
}
