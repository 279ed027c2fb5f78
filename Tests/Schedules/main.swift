#if LARDER_SCHEDULES
  import Glibc

  // Dictionaries are ordered by hashes, which are to be the same each time.
  if unsafe getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
  }
  exit(Commands.run(Array(CommandLine.arguments.dropFirst())))
#else
  print("Built without schedules; Tests/Reliability/schedules builds and runs them.")
#endif
