internal import BeeHive
internal import CTestContracts
internal import Glibc
internal import Synchronization
internal import TestContracts

extension Host {
  /// What several threads do at once.
  static let threadSteps: [(String, Step)] = [
    // Eight threads ask for one singleton at the same moment.
    (
      "race-speak",
      { _, service in
        let answers = Threads.together(8) { (try? say(service)) ?? "nothing" }
        print("all heard: \(Set(answers).sorted().joined(separator: ", "))")
      }
    ),
    (
      "race-greet",
      { _, _ in
        let instances = Threads.together(8) {
          (try? Hive.process.service((any Greeter).self)).map { ObjectIdentifier($0 as AnyObject) }
        }
        let greeting = try Hive.process.service((any Greeter).self).greet()
        print("\(Set(instances).count) instance: \(greeting)")
      }
    ),
    // One thread opens the library while this one asks for everything, again and again.
    (
      "open-while-asking",
      { _, path in
        let rounds = asking { _ = try? Handle(opening: path) }
        print(rounds > 1 ? "asked meanwhile" : "not asked meanwhile")
      }
    ),
    // The same, a hundred times, and until it was asked meanwhile, and closed again each time.
    (
      "reopen-while-asking",
      { _, path in
        let rounds = asking {
          var count = 0
          while count < 100 || Host.rounds.load(ordering: .relaxed) < 3 {
            try? Handle(opening: path).close()
            count += 1
          }
        }
        print(rounds > 2 ? "asked meanwhile" : "not asked meanwhile")
      }
    ),
    // A constructor of the library wants the Hive at the very moment when another thread is the first
    // to touch it.
    (
      "touch-from-constructor",
      { _, path in
        meetInConstructor(of: path) { _ = Hive.process.entries }
        print("both touched it")
      }
    ),
    // The library's constructor wants the Hive while another thread takes a service of the library,
    // which must then stay mapped: that thread asks the loader, which waits for the constructor.
    (
      "speak-while-constructing",
      { _, path in meetInConstructor(of: path) { print((try? say("Speaker")) ?? "nothing") } }
    ),
    ("replace", { _, count in try replace(Int(count) ?? 1000) }),
  ]

  /// Opens a library whose constructor wants the Hive, and runs `body` while that is inside of it.
  private static func meetInConstructor(of path: String, _ body: () -> Void) {
    contract_set_host {
      Host.isInConstructor.store(true, ordering: .releasing)
      usleep(100_000)
      _ = Hive.process.entries
    }
    Threads.run({ _ = try? Handle(opening: path) }) {
      while !isInConstructor.load(ordering: .acquiring) { usleep(100) }
      body()
    }
  }

  private static let isInConstructor = Atomic<Bool>(false)
  private static let isOver = Atomic<Bool>(false)
  private static let rounds = Atomic<Int>(0)

  /// Asks for everything before another thread runs `body` and while it does; how often.
  private static func asking(while body: @escaping @Sendable () -> Void) -> Int {
    rounds.store(0, ordering: .relaxed)
    isOver.store(false, ordering: .relaxed)
    Threads.run({
      while rounds.load(ordering: .acquiring) == 0 { sched_yield() }
      body()
      isOver.store(true, ordering: .releasing)
    }) {
      repeat {
        useInEveryWay(Hive.process)
        rounds.wrappingAdd(1, ordering: .releasing)
      } while !isOver.load(ordering: .acquiring)
    }
    return rounds.load(ordering: .relaxed)
  }

  /// Takes a service away and gives another, `count` times, while a second thread asks for it.
  private static func replace(_ count: Int) throws {
    let hive = Hive()
    isOver.store(false, ordering: .releasing)
    var (resident, allocated) = (0, 0)
    try Threads.run({
      while !isOver.load(ordering: .acquiring) {
        _ = try? hive.service((any Painter).self)
        _ = try? hive.withService((any Painter).self) { $0.paint().isEmpty }
      }
    }) {
      defer { isOver.store(true, ordering: .releasing) }
      for round in 0..<count {
        if round == count / 10 {
          resident = try ProcessFacts.residentKilobytes()
          allocated = contract_heap_size()
        }
        try hive.register((any Painter).self, instance: Canvas())
        _ = try hive.service((any Painter).self)
        hive.removeServices(named: "TestContracts.Painter")
      }
    }
    // Nobody reads any more: what still waited for a reader goes with the next that is taken away.
    try hive.register((any Painter).self, instance: Canvas())
    hive.removeServices(named: "TestContracts.Painter")
    let left = Canvas.count.load(ordering: .relaxed)
    resident = try ProcessFacts.residentKilobytes() - resident
    allocated = contract_heap_size() - allocated
    // A reader that is kept from running inside of a lookup holds back what was taken away meanwhile:
    // pages that stay. What is lost each time shows in the heap after a thousand times.
    print(
      left == 0 && resident < 16 * 1024 && allocated < 64 * 1024
        ? "memory is flat"
        : "\(left) services are left, \(allocated) bytes, \(resident) KiB of pages")
  }

  /// A service that is an object, with something in it, so that a lost one shows.
  private final class Canvas: Painter {
    /// How many there are.
    static let count = Atomic<Int>(0)

    private let colours = [String](repeating: "a colour that is no small string", count: 8)

    init() { Self.count.wrappingAdd(1, ordering: .relaxed) }

    deinit { Self.count.wrappingSubtract(1, ordering: .relaxed) }

    func paint() -> String { colours[0] }
  }
}
