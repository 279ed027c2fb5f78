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
    private var scenes: [Int: [(scene: Scene, length: Int)]] = [:]
    /// The places that any scene has come to.
    private var places: [Int] = []
    /// Where the explorers of a run tell each other of scenes; negative for nowhere.
    private let file: Int32

    private static let limit = 3

    /// - Parameter path: A file that other processes may share, and that this one goes on with.
    init(path: String?) {
      file = path.map { unsafe open($0, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) } ?? -1
      guard let path, file >= 0 else { return }
      for line in String(decoding: RawFiles.all(path), as: UTF8.self).split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let place = Int(parts[0]), let scene = Scene(String(parts[1]))
        else { continue }
        _ = add(scene, scene.length, place)
      }
    }

    var isEmpty: Bool { places.isEmpty }

    /// Counts the places of a trial, and keeps its scene for those that have few.
    mutating func note(_ scene: Scene, _ found: [Int]) {
      var text = ""
      let length = scene.length
      for place in found {
        counts[place] += 1
        if add(scene, length, place) { text += "\(place) \(scene.text)\n" }
      }
      if file >= 0, !text.isEmpty {
        let bytes = Array(text.utf8)
        unsafe write(file, bytes, bytes.count)
      }
    }

    /// Adds a scene to those of a place, of which the shortest stay, because in short ones more
    /// orders are right by chance; returns whether it was added.
    private mutating func add(_ scene: Scene, _ length: Int, _ place: Int) -> Bool {
      guard let some = scenes[place] else {
        places.append(place)
        scenes[place] = [(scene, length)]
        return true
      }
      let longest = some.indices.max { some[$0].length < some[$1].length } ?? 0
      let isFull = some.count == Self.limit
      if isFull && some[longest].length <= length { return false }
      if some.contains(where: { $0.scene == scene }) { return false }
      if isFull { scenes[place]?.remove(at: longest) }
      scenes[place]?.append((scene, length))
      return true
    }

    /// Returns a scene that has come to a place that few trials come to.
    func pick(_ generator: inout SeededGenerator) -> Scene {
      let some = (0..<4).map { _ in generator.pick(places) }
      let place = some.min { counts[$0] < counts[$1] } ?? 0
      return scenes[place].map { generator.pick($0).scene } ?? Scene()
    }

    /// Returns few scenes that come to all places between them.
    func cover() -> [Scene] {
      var texts: [String: (scene: Scene, places: Set<Int>)] = [:]
      for (place, some) in scenes {
        for (scene, _) in some { texts[scene.text, default: (scene, [])].places.insert(place) }
      }
      var (covered, chosen) = (Set<Int>(), [Scene]())
      for place in places.sorted(by: { (counts[$0], $0) < (counts[$1], $1) })
      where !covered.contains(place) {
        let some = (scenes[place] ?? []).compactMap { texts[$0.scene.text] }
        guard
          let best = some.max(by: {
            $0.places.count * $1.scene.length < $1.places.count * $0.scene.length
          })
        else { continue }
        covered.formUnion(best.places)
        chosen.append(best.scene)
      }
      return chosen
    }

    /// How many places there are, and how many trials have come to those that few come to: a tenth,
    /// a quarter and half of them.
    var text: String {
      let sorted = places.map { counts[$0] }.sorted()
      let marks = [10, 4, 2].map { "\(sorted.isEmpty ? 0 : sorted[sorted.count / $0])" }
      return "\(sorted.count) places, by \(marks.joined(separator: ", ")) trials"
    }
  }

  extension Scene {
    /// The number of its parts.
    var length: Int {
      threads.reduce(0) { $0 + 1 + $1.operations.count }
        + caches.reduce(0) { $0 + 1 + $1.options.count } + failures.count + initial.count
    }
  }
#endif
