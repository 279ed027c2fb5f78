#if LARDER_SCHEDULES
  import Glibc

  @testable import LarderDisk
  @testable import LarderSystem

  /// Scenes by the places in the sources that they come to, so that what seldom happens is explored
  /// as much as what always does.
  ///
  /// A place such as the removal of a damaged file is come to by one of some thousand scenes. Where
  /// two threads meet there, it takes many orders and neighbours of just these scenes to see it.
  struct RareScenes {
    /// How many trials have come to each place.
    private var counts = [Int](repeating: 0, count: Scheduler.placeCount)
    private var scenes: [Int: [Scene]] = [:]
    /// The places that any scene has come to.
    private var places: [Int] = []
    /// Where the explorers of a run tell each other of scenes; negative for nowhere.
    private let file: Int32

    private static let limit = 6

    /// - Parameter path: A file that other processes may share, and that this one goes on with.
    init(path: String?) {
      file = path.map { unsafe open($0, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) } ?? -1
      guard let path, file >= 0 else { return }
      for line in String(decoding: RawFiles.all(path), as: UTF8.self).split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let place = Int(parts[0]), let scene = Scene(String(parts[1])),
          scenes[place, default: []].count < Self.limit
        else { continue }
        add(scene, place)
      }
    }

    var isEmpty: Bool { places.isEmpty }

    /// Counts the places of a trial, and keeps its scene for those that have few.
    mutating func note(_ scene: Scene, _ found: [Int], _ generator: inout SeededGenerator) {
      var text = ""
      for place in found {
        counts[place] += 1
        let count = scenes[place]?.count ?? 0
        if count < Self.limit {
          add(scene, place)
          text += "\(place) \(scene.text)\n"
        } else if generator.below(counts[place] + 1) < Self.limit {
          scenes[place]?[generator.below(Self.limit)] = scene
        }
      }
      if file >= 0, !text.isEmpty {
        let bytes = Array(text.utf8)
        unsafe write(file, bytes, bytes.count)
      }
    }

    private mutating func add(_ scene: Scene, _ place: Int) {
      if scenes[place] == nil { places.append(place) }
      if scenes[place]?.contains(scene) != true { scenes[place, default: []].append(scene) }
    }

    /// Returns a scene that has come to a place that few trials come to.
    func pick(_ generator: inout SeededGenerator) -> Scene {
      let some = (0..<4).map { _ in generator.pick(places) }
      let place = some.min { counts[$0] < counts[$1] } ?? 0
      return generator.pick(scenes[place] ?? [Scene()])
    }

    /// How many places there are, and how many trials have come to those that few come to: a tenth,
    /// a quarter and half of them.
    var text: String {
      let sorted = places.map { counts[$0] }.sorted()
      let marks = [10, 4, 2].map { "\(sorted.isEmpty ? 0 : sorted[sorted.count / $0])" }
      return "\(sorted.count) places, by \(marks.joined(separator: ", ")) trials"
    }
  }
#endif
