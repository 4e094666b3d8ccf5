internal import Threads

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Who is making what: finds the cycle where a service needs itself, also across threads.
///
/// A thread that makes a service stands on its own stack here; one that waits for a singleton that
/// another makes says so. Both are looked at before anything blocks, so two threads that need each
/// other's singletons get an error and not a deadlock. The lock is held for a few instructions;
/// factories run outside it.
struct Creation {
  /// What each thread is making, innermost last, and the one singleton it waits for.
  private var stacks: [UInt: [RegisteredEntry]] = [:]
  private var waiting: [UInt: RegisteredEntry] = [:]

  /// The process has one: a cycle may go through several Hives.
  static let running = Lock(Creation())

  /// Identifies the calling thread.
  static var thread: UInt { UInt(bitPattern: pthread_self().hashValue) }

  /// The path of the cycle that `thread` would close by making or awaiting `entry`; nil if none.
  private func cycle(_ entry: RegisteredEntry, on thread: UInt) -> [RegisteredEntry]? {
    let stack = stacks[thread] ?? []
    if let start = stack.firstIndex(where: { $0 === entry }) {
      return Array(stack[start...]) + [entry]
    }
    // Follow who makes `entry`, what that thread waits for, who makes that, …
    var path = stack + [entry]
    var wanted = entry
    var visited: Set<UInt> = [thread]
    while let (owner, held) = stacks.first(where: { $0.value.contains { $0 === wanted } }) {
      guard visited.insert(owner).inserted, let next = waiting[owner] else { return nil }
      if let position = held.firstIndex(where: { $0 === wanted }) {
        path += held[(position + 1)...]
      }
      path.append(next)
      if let start = stack.firstIndex(where: { $0 === next }) { return Array(path[start...]) }
      wanted = next
    }
    return nil
  }

  /// Runs `make` as the maker of `entry`, unless that would never end.
  static func make<Value>(
    _ entry: RegisteredEntry, _ make: () throws(ServiceError) -> Value
  ) throws(ServiceError) -> Value {
    let thread = Creation.thread
    let path = running.withLock { creation -> [RegisteredEntry]? in
      if let path = creation.cycle(entry, on: thread) { return path }
      creation.stacks[thread, default: []].append(entry)
      return nil
    }
    if let path { throw ServiceError.cycle(path) }
    defer {
      running.withLock { creation in
        creation.stacks[thread]?.removeLast()
        if creation.stacks[thread]?.isEmpty == true { creation.stacks[thread] = nil }
      }
    }
    return try make()
  }

  /// Says that the calling thread is about to wait for `entry`; the path if that would never end.
  static func beginWaiting(for entry: RegisteredEntry) -> [RegisteredEntry]? {
    let thread = Creation.thread
    return running.withLock { creation in
      if let path = creation.cycle(entry, on: thread) { return path }
      creation.waiting[thread] = entry
      return nil
    }
  }

  /// Says that the calling thread waits no more.
  static func endWaiting() {
    let thread = Creation.thread
    running.withLock { $0.waiting[thread] = nil }
  }
}

extension ServiceError {
  /// A service that needs itself.
  static func cycle(_ path: [RegisteredEntry]) -> ServiceError {
    let names = path.map(\.name).joined(separator: " → ")
    let places = path.dropLast().map(\.source.description).joined(separator: ", ")
    return ServiceError(
      .cycle, service: path.first?.name ?? "",
      message: "needs itself: \(names) (\(places)); break the circle or hand one of them in later",
      sources: path.dropLast().map(\.source))
  }
}
