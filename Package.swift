// swift-tools-version: 6.3
import PackageDescription

// LARDER_INSTRUMENT=SCHEDULES in the environment builds the library for the explorer of schedules,
// and HOLDS with a record of how long locks are held. Tests/Instruments has what these builds add.
let instrument = Context.environment["LARDER_INSTRUMENT"]

let house: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
  ] + (instrument.map { [.define("LARDER_\($0)")] } ?? [])

// The layers of the library, each of which imports those before it: see Sources/README.md.
let layers: [Target.Dependency] = [
  "LarderSystem", "LarderDigest", "LarderBasics", "LarderMemory", "LarderDisk", "Larder",
]

// What neither users nor `swift test` need. It is part of the package only if LARDER_EVERYTHING is
// set in the environment, as .ci/run and the scripts of Tests/Reliability do.
let programs: [Target] = [
  .executableTarget(
    name: "LarderBench", dependencies: layers + ["LarderHTTP"], swiftSettings: house),
  .executableTarget(
    name: "Schedules", dependencies: layers, path: "Tests/Schedules", swiftSettings: house),
  // Complete programs, as a package of yours would have them: no settings of the house.
  .executableTarget(
    name: "CachingProxy", dependencies: ["Larder", "LarderFoundation"],
    path: "Tests/Examples/CachingProxy"),
  .executableTarget(
    name: "CompilerCache", dependencies: ["Larder"], path: "Tests/Examples/CompilerCache"),
  .executableTarget(
    name: "Thumbnails", dependencies: ["Larder"], path: "Tests/Examples/Thumbnails"),
  .executableTarget(
    name: "RedisLoader", dependencies: ["Larder"], path: "Tests/Examples/RedisLoader"),
  .executableTarget(
    name: "SharedTier", dependencies: ["Larder"], path: "Tests/Examples/SharedTier"),
  .testTarget(
    name: "ForecastTests", dependencies: ["Larder", "LarderFixtures"],
    path: "Tests/Examples/ForecastTests", exclude: ["Fixtures"]),
  .testTarget(
    name: "ExampleTests",
    dependencies: [
      "CachingProxy", "CompilerCache", "RedisLoader", "SharedTier", "Thumbnails",
      "LarderTestSupport",
    ],
    swiftSettings: house),
]
let isEverything = Context.environment["LARDER_EVERYTHING"] != nil
// LARDER_TESTS=Disk,Cache in the environment builds of LarderTests those folders alone.
let folders = Context.environment["LARDER_TESTS"]?.split(separator: ",").map(String.init)

let package = Package(
  name: "larder",
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderFixtures", targets: ["LarderFixtures"]),
    .library(name: "LarderFoundation", targets: ["LarderFoundation"]),
    .library(name: "LarderHTTP", targets: ["LarderHTTP"]),
    .executable(name: "larder", targets: ["LarderTool"]),
  ],
  targets: [
    .target(
      name: "LarderSystem",
      path: instrument.map { _ in "." },
      sources: instrument.map { _ in ["Sources/LarderSystem", "Tests/Instruments"] },
      swiftSettings: house + [
        // One file uses it: Symbols.swift declares what Glibc's module lacks.
        .enableExperimentalFeature("Extern")
      ]
    ),
    .target(name: "LarderDigest", dependencies: ["LarderSystem"], swiftSettings: house),
    .target(name: "LarderBasics", dependencies: ["LarderSystem"], swiftSettings: house),
    .target(
      name: "LarderMemory", dependencies: ["LarderSystem", "LarderBasics"], swiftSettings: house),
    .target(
      name: "LarderDisk", dependencies: ["LarderSystem", "LarderDigest", "LarderBasics"],
      swiftSettings: house),
    .target(
      name: "Larder", dependencies: ["LarderSystem", "LarderBasics", "LarderMemory", "LarderDisk"],
      swiftSettings: house),
    .target(
      name: "LarderFixtures",
      dependencies: ["LarderSystem", "LarderDigest", "LarderBasics", "LarderDisk", "Larder"],
      swiftSettings: house),
    .target(name: "LarderFoundation", dependencies: ["Larder"], swiftSettings: house),
    .target(name: "LarderHTTP", dependencies: ["Larder"], swiftSettings: house),
    .executableTarget(
      name: "LarderTool", dependencies: layers + ["LarderFixtures"], swiftSettings: house),
    // How all tests wait, and where they put their files: see MachineTime.swift in it.
    .testTarget(name: "LarderTestSupport", swiftSettings: house),
    .testTarget(
      name: "LarderTests", dependencies: layers + ["LarderFixtures", "LarderTestSupport"],
      sources: folders.map { ["Support"] + $0 },
      swiftSettings: house),
    .testTarget(
      name: "LarderFoundationTests", dependencies: ["LarderFoundation", "LarderTestSupport"],
      swiftSettings: house),
    .testTarget(
      name: "LarderHTTPTests", dependencies: ["LarderHTTP", "LarderTestSupport"],
      swiftSettings: house),
    .testTarget(
      name: "LarderToolTests",
      dependencies: layers + ["LarderFixtures", "LarderTool", "LarderTestSupport"],
      swiftSettings: house),
  ] + (isEverything ? programs : []),
  swiftLanguageModes: [.v6]
)
