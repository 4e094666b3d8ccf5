internal import BeeHive
internal import CModel

/// Has the model note when it ends.
@safe private final class Item: Disposable, @unchecked Sendable {
  // Sound: nobody but the model reads what this leads to.
  private let thing = unsafe model_make(0)

  func dispose() { unsafe model_destroy(thing) }
}

extension Host {
  /// Random calls of the Hive of the process, from C and from Swift.
  static let modelSteps: [(String, Step)] = [
    (
      "model",
      { _, text in
        let numbers = text.split(separator: "+").compactMap { UInt32($0) }
        guard numbers.count == 2 else { throw StepFailure("no first one, or no count") }
        print(model_sequences(numbers[0], numbers[1]) ? "as modelled" : "wrong")
      }
    ),
    (
      "model-leftovers",
      { _, count in print(model_leaves_nothing(UInt32(count) ?? 0) ? "nothing is left" : "grows") }
    ),
    // Four threads call in C, and four tasks in Swift; then again, while builds of the library are replaced.
    (
      "model-threads",
      { _, text in
        guard model_open(), let count = UInt32(text) else {
          throw StepFailure("no library, or no count")
        }
        for replaces in [false, true] {
          let last = Guarded<UInt32>(0)
          _ = Threads.together(8) {
            let number = last.withLock { last in
              last += 1
              return last
            }
            if number > 4 { return waiting { await call(count) } }
            model_calls(number, count, replaces)
            return ""
          }
        }
        _ = Hive.process.remove(Item.self)
        print(model_is_over() ? "each ended once" : "wrong")
      }
    ),
  ]

  /// Calls whatever comes, from Swift.
  private static func call(_ count: UInt32) async -> String {
    let hive = Hive.process
    var random = SystemRandomNumberGenerator()
    for _ in 0..<count {
      switch Int.random(in: 0..<9, using: &random) {
      case 0: try? hive.register(Item.self, scope: .singleton) { _ in Item() }
      case 1: hive.remove(Item.self)
      case 2: _ = try? hive.service(Item.self)
      case 3:
        let mock = Item()
        await hive.overridingInTask(Item.self, with: mock) {
          _ = unsafe try? hive.service("Pair", as: OpaquePointer.self)
        }
        mock.dispose()
      case 4: await hive.stop()
      case 5: _ = try? await hive.start()
      case 6: if let event = Event(number: 1000, name: "told") { await hive.trigger(event) }
      case 7: await hive.unregister(module: "guest")
      default:
        let scope = hive.makeScope()
        _ = unsafe try? scope.service("Inner", as: OpaquePointer.self)
        scope.end()
      }
    }
    return ""
  }
}
