import Foundation
import Larder
import Testing

@testable import LarderSystem
@testable import Thumbnails

struct `The thumbnail maker` {
  private let scene: Scene

  init() throws {
    scene = try Scene()
    for name in ["a", "b"] {
      let pixels = (0..<(64 * 48 * 3)).map { UInt8(truncatingIfNeeded: $0 * 7 + name.utf8.count) }
      try scene.write(
        Image.coder.encode(Image(width: 64, height: 48, pixels: pixels)), to: "\(name).ppm")
    }
  }

  private func run(_ arguments: String...) throws -> Program.Outcome {
    try Program("Thumbnails").run(
      arguments, in: scene, environment: ["XDG_CACHE_HOME": scene.root.path + "/caches"])
  }

  @Test func `makes each image once however often it is wanted`() throws {
    let names = Array(repeating: ["a.ppm", "b.ppm"], count: 12).flatMap(\.self)
    let outcome = try Program("Thumbnails").run(
      ["16"] + names, in: scene, environment: ["XDG_CACHE_HOME": scene.root.path + "/caches"])
    #expect(outcome.status == 0 && outcome.output == "24 wanted, 2 made\n")
    let thumbnail = try Image(ppm: Array(scene.read("a.ppm.thumb.ppm")))
    #expect(thumbnail.width == 16 && thumbnail.height == 12)
    #expect(try thumbnail == Image(ppm: Array(scene.read("a.ppm"))).scaled(toWidth: 16))
  }

  @Test func `finds the thumbnails of an earlier run, and makes those of images that changed`()
    throws
  {
    #expect(try run("16", "a.ppm", "b.ppm").output == "2 wanted, 2 made\n")
    #expect(try run("16", "a.ppm", "b.ppm").output == "2 wanted, 0 made\n")
    #expect(try run("8", "a.ppm").output == "1 wanted, 1 made\n")
    try scene.write(
      Image.coder.encode(Image(width: 2, height: 2, pixels: Array(repeating: 9, count: 12))),
      to: "a.ppm")
    #expect(try run("16", "a.ppm", "b.ppm").output == "2 wanted, 1 made\n")
  }

  @Test func `makes no image larger than it is`() throws {
    let outcome = try run("\(Int.max)", "a.ppm")
    #expect(outcome.status == 0 && outcome.output == "1 wanted, 1 made\n")
    #expect(try scene.read("a.ppm.thumb.ppm") == scene.read("a.ppm"))
    for size in ["\(Int.max) 1", "1 \(Int.max)", "65536 65536", "-1 -1"] {
      try scene.write("P6\n\(size)\n255\nabc".utf8, to: "c.ppm")
      #expect(throws: Image.Unreadable.self) { try Image(ppm: Array(scene.read("c.ppm"))) }
    }
  }

  @Test func `refuses what is no image, and does not keep the failure`() throws {
    try scene.write("no image".utf8, to: "c.ppm")
    #expect(try run("16", "c.ppm").status != 0)
    #expect(try run("16", "a.ppm").output == "1 wanted, 1 made\n")
  }
}
