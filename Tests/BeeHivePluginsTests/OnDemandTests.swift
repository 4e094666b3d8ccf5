import BeeHive
import BeeHiveRouting
import Foundation
import TestSupport
import Testing
import Threads

@testable import BeeHivePlugins

@Suite("Plugins are loaded on demand")
struct OnDemandTests {
  @Test("by a lookup that finds nothing: one of two hundred")
  func one() async throws {
    let shop = try Shop()
    try shop.add(200, copiesOf: "demand")
    #expect(throws: ServiceError.self) { try shop.said("demand042") }
    shop.hive.plugins.activation = .onDemand
    try await shop.hive.start()
    #expect(try shop.said("demand042") == 1)
    #expect(shop.loadedCount == 1)
    #expect(shop.states[42] == .loaded)
    #expect(try await Patience.wait { await shop.hive.runningModules == ["demand042"] })
    #expect(throws: ServiceError.self) { try shop.said("demand200") }
    // The host has unloaded the plugin, so no lookup loads it again.
    try await shop.hive.plugins.unload("042.so")
    #expect(throws: ServiceError.self) { try shop.said("demand042") }
    #expect(shop.hive.plugins.files.count { $0.state == .loaded } == 0)
    shop.hive.plugins.activation = .atStart
    #expect(throws: ServiceError.self) { try shop.said("demand043") }
  }

  @Test("the one with the largest priority, and only where nothing loaded serves")
  func choice() throws {
    let shop = try Shop()
    for (name, number) in [("a", 1), ("b", 3), ("c", 2)] {
      let more = """
        BEEHIVE_SERVICE(choice, Chosen, &speaker, BEEHIVE_PRIORITY(\(number)));
        """
      try shop.add(name, Shop.source(number, "choice_\(name)", more: more))
    }
    shop.hive.plugins.policy.denied = ["b.so"]
    shop.hive.plugins.activation = .onDemand
    func chosen() throws -> Int32 {
      unsafe try shop.hive.service("choice", as: UnsafePointer<Speaker>.self).pointee.say()
    }
    #expect(try chosen() == 2)
    shop.hive.plugins.policy.denied = []
    #expect(try chosen() == 2)
    #expect(shop.hive.plugins.files.map(\.isLoaded) == [false, false, true])
  }

  @Test("not by a verification that looks up what a plugin would be loaded for")
  func verifying() throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "verified_a"))
    try shop.add("b", Shop.source(2, "verified_b"))
    shop.hive.plugins.activation = .onDemand
    shop.hive.plugins.verify { _, _ in _ = try shop.said("verified_b") }
    let error = #expect(throws: ServiceError.self) { try shop.said("verified_a") }
    #expect(error?.message.contains("A verification has plugins judged again") == true, "\(error)")
    #expect(try shop.hive.plugins.admission().plugins.allSatisfy { !$0.loads })
    #expect(shop.loadedCount == 0)
  }

  @Test("with those that it needs, but for one that has failed or was unloaded")
  func needed() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "wanted_a"))
    try shop.add("b", Shop.source(2, "wanted_b", requires: "wanted_a"))
    try await shop.hive.start()
    shop.hive.plugins.activation = .onDemand
    #expect(try shop.said("wanted_a") == 1)
    try await shop.hive.plugins.unload("a.so")
    let error = #expect(throws: ServiceError.self) { try shop.said("wanted_b") }
    #expect(error?.message.contains("a.so, which has failed or was unloaded") == true)
    #expect(shop.states == [.unloaded, .admitted])
    try await shop.hive.plugins.load("b.so")
    #expect(try shop.said("wanted_b") == 2 && shop.said("wanted_a") == 1)
  }

  @Test("and a start that an unload comes before takes nothing from the load that follows")
  func hasty() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "hasty"))
    try await shop.hive.start()
    shop.hive.plugins.activation = .onDemand
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let store = shop.hive.plugins.store
    let stamp = store.catalogue.manifests.first?.stamp
    store.state.withLock { $0.later[stamp] = Task { for await _ in gate {} } }
    #expect(try shop.said("hasty") == 1)
    try await shop.hive.plugins.unload("a.so")
    async let loaded = shop.hive.plugins.load("a.so")
    try await Task.sleep(for: .milliseconds(100))
    opening.finish()
    #expect(try await loaded.map(\.state) == [.loaded])
    await store.state.withLock { $0.later[stamp] }?.value
    #expect(try shop.said("hasty") == 1)
    #expect(shop.states == [.loaded])
  }

  @Test("where the host names any of its paths", arguments: ["a.so", "b.so"])
  func links(name: String) throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "linked"))
    try FileManager.default.createSymbolicLink(
      at: shop.folder.place("b.so"), withDestinationURL: shop.folder.place("a.so"))
    shop.hive.plugins.refresh()
    shop.hive.plugins.activations = [name: .onDemand]
    #expect(try shop.said("linked") == 1)
  }

  @Test("or the error has the reason that the only one is refused")
  func refused() throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "refused_a"))
    shop.hive.plugins.activation = .onDemand
    shop.hive.plugins.policy.denied = ["a.so"]
    let error = #expect(throws: ServiceError.self) { try shop.said("refused_a") }
    #expect(error?.message.contains("a.so declares it and is refused: The policy denies") == true)
  }

  @Test("or the error has the reason that an earlier load of the only one has failed")
  func failed() throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "failing_a"))
    shop.hive.plugins.activation = .onDemand
    // The file is judged, and then replaced.
    let (path, other) = (shop.path("a"), shop.folder.place("other").path)
    try build("other", Shop.source(2, "failing_b"), in: shop.folder)
    shop.hive.plugins.verify { _, _ in _ = unsafe rename(other, path) }
    for count in 1...2 {
      let error = #expect(throws: ServiceError.self) { try shop.said("failing_a") }
      #expect(error?.message.contains("is another file than the one that was judged") == true)
      #expect(error?.message.contains("a.so declares it and has failed: ") == (count == 2))
    }
  }

  @Test("once, however many threads look it up")
  func threads() throws {
    let shop = try Shop()
    let count = Effort.times(8, full: 50)
    try shop.add(count, copiesOf: "crowd")
    shop.hive.plugins.activation = .onDemand
    let wrong = Counter()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for turn in 0..<Effort.times(300, full: 10_000) {
        let number = String(1000 + (thread + turn) % count).dropFirst()
        if (try? shop.said("crowd\(number)")) != 1 { _ = wrong.next() }
      }
    }
    #expect(wrong.count == 0)
    #expect(shop.states == Array(repeating: .loaded, count: count))
    #expect(shop.hive.entries.count == 2 * count)
  }

  @Test("and a load that needs itself is an error, also across threads")
  func cycle() throws {
    let load = LibraryLoad(of: "/plugins/libloop.so")
    let error = #expect(throws: ServiceError.self) {
      try load.run { () throws(ServiceError) in try load.run {} }
    }
    #expect(error?.code == .cycle)
    #expect(error?.message.contains("/plugins/libloop.so → /plugins/libloop.so") == true)
    // The load may be tried again, and then happens once.
    let times = Counter()
    for _ in 0..<3 { try load.run { _ = times.next() } }
    #expect(times.count == 1)
  }
}

@Suite("A host says when each plugin is loaded")
struct ActivationTests {
  @Test("by its id or its file: at start, on demand, or never")
  func each() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "each_a", more: #"BEEHIVE_PLUGIN("com.example.each", "1");"#))
    try shop.add("b", Shop.source(2, "each_b"))
    try shop.add("c", Shop.source(3, "each_c"))
    try shop.add("d", Shop.source(4, "each_d", requires: "each_c"))
    shop.hive.plugins.activations = [
      "com.example.each": .atStart, "b.so": .onDemand, shop.path("c"): .never,
    ]
    #expect(throws: ServiceError.self) { try shop.said("each_a") }
    #expect(throws: ServiceError.self) { try shop.said("each_c") }
    #expect(shop.loadedCount == 0)
    #expect(try shop.said("each_b") == 2)
    #expect(shop.loadedCount == 1)
    let loaded = try await shop.hive.plugins.load(marks: shop.marks)
    #expect(loaded.map(\.path) == [shop.path("a")])
    let refusals = try shop.hive.plugins.admission().plugins.map { $0.refusals.map(\.code) }
    #expect(refusals == [[], [], ["switched-off"], ["refused-provider"]])
    let never = await #expect(throws: Problem.self) { try await shop.hive.plugins.load("c.so") }
    #expect(never?.message.hasPrefix("c.so is refused: The host never loads it.") == true)
    shop.hive.plugins.activations = [:]
    #expect(try await shop.hive.plugins.load().count == 2)
  }

  @Test("and of two names for one plugin the stricter one counts, before what holds for all")
  func stricter() async throws {
    let shop = try Shop()
    try shop.add("a", Shop.source(1, "two_a", more: #"BEEHIVE_PLUGIN("com.example.two", "1");"#))
    try shop.add("b", Shop.source(2, "two_b"))
    shop.hive.plugins.activation = .onDemand
    shop.hive.plugins.activations = ["com.example.two": .atStart, "a.so": .never]
    #expect(try await shop.hive.plugins.load(marks: shop.marks).isEmpty)
    #expect(throws: ServiceError.self) { try shop.said("two_a") }
    shop.hive.plugins.activations["a.so"] = .onDemand
    #expect(try await shop.hive.plugins.load().isEmpty)
    #expect(try await shop.hive.plugins.load("com.example.two").count == 1)
    shop.hive.plugins.activation = .never
    #expect(throws: ServiceError.self) { try shop.said("two_b") }
  }
}

/// Returns the source of a plugin with a route and a target whose calls return a number.
private func source(_ number: Int, _ name: String, _ more: String = "") -> String {
  """
  #include <BeeHive.h>
  static bool answer(const beehive_call *call, beehive_reply *reply) {
    beehive_reply_integer(reply, \(number));
    return true;
  }
  BEEHIVE_ROUTE("demand://\(name)/:id<Int>", answer, BEEHIVE_PRIORITY(\(number)) BEEHIVE_REMOTE);
  BEEHIVE_ROUTE("demand://\(name)/files", answer, BEEHIVE_MATCH("prefix"));
  static const beehive_action actions[] = {{"open", answer}, {"shut", answer}};
  BEEHIVE_TARGET(\(name)s, actions, BEEHIVE_ACTION("remote open() -> Int") BEEHIVE_ACTION("shut() -> Int"));
  \(more)
  """
}

@Suite("Calls load plugins on demand")
struct OnDemandCallTests {
  /// Returns the number that answers a URL; nil if nothing does.
  private func answer(_ shop: Shop, _ url: String, _ origin: CallOrigin = .local) async -> Int? {
    try? await shop.hive.router.object(for: url, as: Int.self, origin: origin)
  }

  @Test(
    "whose route or target alone answers",
    arguments: [
      ("demand://a/7", CallOrigin.local, 1), ("demand://a/7", .remote, 1),
      ("demand://a/files/x/y", .local, 1), ("demand://a/files", .remote, 0),
      ("demand://a/seven", .local, 0), ("demand://b/7", .local, 0),
      ("any://as/shut", .local, 1), ("any://as/open", .remote, 1), ("any://as/shut", .remote, 0),
      ("any://as/shut/it", .local, 0), ("//as/shut", .local, 0),
    ])
  func urls(url: String, origin: CallOrigin, number: Int) async throws {
    let shop = try Shop()
    try shop.add("a", source(1, "a"))
    #expect(await answer(shop, url, origin) == nil)
    #expect(shop.loadedCount == 0)
    shop.hive.plugins.activation = .onDemand
    #expect(await answer(shop, url, origin) ?? 0 == number)
    #expect(shop.loadedCount == number)
  }

  @Test("by name, and a dry run says what the call would come to")
  func names() async throws {
    let shop = try Shop()
    try shop.add("a", source(1, "a"))
    try shop.add("b", source(2, "b"))
    shop.hive.plugins.activation = .onDemand
    await #expect(throws: RoutingError.self) { try await shop.hive.mediator.perform("cs", "shut") }
    #expect(shop.loadedCount == 0)
    #expect(try await shop.hive.mediator.perform("as", "shut") == 1)
    #expect(shop.states == [.loaded, .admitted])
    #expect(shop.hive.router.canOpen("demand://b/2", origin: .remote))
    #expect(shop.states == [.loaded, .loaded])
  }

  @Test("but not where something that is loaded answers, or would but for a fault")
  func loadedFirst() async throws {
    let shop = try Shop()
    try shop.add("a", source(9, "a"))
    try shop.hive.router.register("demand://a/:name") { _ in 5 }
    try shop.add(
      "z",
      source(
        1, "z",
        """
        BEEHIVE_ROUTE("demand://b/:id<Nothing>", answer);
        BEEHIVE_TARGET(bs, actions, BEEHIVE_ACTION("absent()"));
        """))
    try await shop.hive.plugins.load("z.so", marks: shop.marks)
    try shop.add("b", source(2, "b"))
    shop.hive.plugins.activation = .onDemand
    #expect(await answer(shop, "demand://a/7") == 5)
    #expect(await answer(shop, "demand://b/7") == nil)
    #expect(await answer(shop, "any://bs/shut") == nil)
    await #expect(throws: RoutingError.self) { try await shop.hive.mediator.perform("bs", "shut") }
    #expect(shop.loadedCount == 1)
    #expect(await answer(shop, "any://as/shut") == 9)
    #expect(shop.loadedCount == 2)
  }

  @Test("the one with the larger priority, and the error of one that does not open")
  func failures() async throws {
    let shop = try Shop()
    try shop.add("a", source(1, "a"))
    try shop.add("b", source(2, "a"))
    try shop.add("c", source(3, "c"))
    shop.hive.plugins.activation = .onDemand
    #expect(await answer(shop, "demand://a/7") == 2)
    // The file is judged, and then replaced.
    let (path, other) = (shop.path("c"), shop.path("a"))
    shop.hive.plugins.verify { _, judged in
      guard judged == path else { return }
      unsafe unlink(path)
      _ = unsafe link(other, path)
    }
    let error = await #expect(throws: RoutingError.self) {
      try await shop.hive.router.open("demand://c/7")
    }
    #expect(error?.code == .failed)
    #expect(error?.message.contains("is another file than the one that was judged") == true)
  }
}
