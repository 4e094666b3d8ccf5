internal import BinaryImage
package import CBeeHive.Runtime
internal import CForeignCalls
internal import LibC
internal import Threads

// The functions of `beehive/runtime.h`: the Hive of the process, for hosts that never name Swift.
// The compiler holds each signature to the header: `@implementation`.

/// `beehive_start`.
@implementation @c
package func beehive_start() -> Bool { beehive_start_with(nil) }

/// `beehive_start_with`.
@implementation @c
package func beehive_start_with(_ options: UnsafePointer<beehive_options>?) -> Bool {
  succeeds {
    let options = unsafe try RunOptions.copied(options, for: .process)
    try waiting { () async throws in
      try await Hive.process.start(options.context, options: options.run.launch)
    }
  }
}

/// `beehive_run`.
@implementation @c
package func beehive_run(_ options: UnsafePointer<beehive_options>?) -> Bool {
  succeeds {
    let options = unsafe try RunOptions.copied(options, for: .process)
    let report = try waiting { () async throws in
      try await Hive.process.run(options.context, options: options.run)
    }
    if let failure = report.failures.first { throw failure }
    if let hanging = report.hanging.first.map(ModuleStep.delay) {
      throw Problem(.badCall, hanging)
    }
    try Problem.check(
      report.isComplete,
      "the Hive did not stop within \(options.run.tearDownLimit ?? .zero): a C factory's destroy "
        + "function is still running")
  }
}

/// `beehive_start_latecomers`.
@implementation @c
package func beehive_start_latecomers() -> Bool {
  succeeds {
    try Problem.check(
      Hive.process.state.withLock({ $0.context }) != nil,
      "no module runs, so none comes late; start the Hive first")
    let failures = try waiting { await Hive.process.startLatecomers() }
    if let failure = failures.first { throw failure }
  }
}

/// `beehive_stop`.
@implementation @c
package func beehive_stop() -> Bool {
  succeeds {
    let failures = try waiting { await Hive.process.stop() }
    if let failure = failures.first { throw failure }
  }
}

/// `beehive_service`.
@implementation @c
package func beehive_service(_ service: UnsafePointer<CChar>?, _ size: Int) -> UnsafeRawPointer? {
  unsafe beehive_service_named(service, nil, size)
}

/// `beehive_service_named`.
@implementation @c
package func beehive_service_named(
  _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ size: Int
) -> UnsafeRawPointer? {
  unsafe cService(service, name, size, of: .process)
}

/// `beehive_destroy`.
@implementation @c
package func beehive_destroy(
  _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ object: UnsafeRawPointer?
) -> Bool {
  unsafe cDestroy(object, service, name, to: .process)
}

/// `beehive_scope_begin`.
@implementation @c
package func beehive_scope_begin(_ outer: OpaquePointer?) -> OpaquePointer? {
  LastError.forget()
  let scope = uncancelled {
    unsafe ServiceScope.of(outer)?.makeScope() ?? Hive.process.makeScope()
  }
  return unsafe OpaquePointer(Unmanaged.passRetained(scope).toOpaque())
}

/// `beehive_scope_service`.
@implementation @c
package func beehive_scope_service(
  _ scope: OpaquePointer?, _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?,
  _ size: Int
) -> UnsafeRawPointer? {
  unsafe cService(service, name, size, of: .process, in: ServiceScope.of(scope))
}

/// `beehive_scope_end`.
@implementation @c
package func beehive_scope_end(_ scope: OpaquePointer?) {
  LastError.forget()
  guard let scope = unsafe ServiceScope.of(scope) else { return }
  uncancelled { scope.end() }
  unsafe Unmanaged.passUnretained(scope).release()
}

/// `beehive_trigger`.
@implementation @c
package func beehive_trigger(
  _ number: Int64, _ name: UnsafePointer<CChar>?, _ payload: UnsafeRawPointer?, _ size: Int
) -> Bool {
  succeeds {
    try Problem.check(
      size >= 0 && size < 1 << 40, "event \(number): no payload has \(UInt(bitPattern: size)) bytes"
    )
    let bytes = unsafe UnsafeRawBufferPointer(start: payload, count: payload == nil ? 0 : size)
    let copy = unsafe [UInt8](bytes)
    guard let event = unsafe Event(number: Int(number), name: name.text ?? "", payload: copy) else {
      throw Problem(.badCall, "event \(number): the numbers below 1000 are taken")
    }
    let outcome = try waiting { await Hive.process.trigger(event) }
    if let failure = outcome.failures.first { throw failure }
    let told = outcome.answers.map(\.module).joined(separator: ", ")
    let isIdle = Hive.process.runner.states.withLock { $0.phase == .idle }
    try Problem.check(
      outcome.any,
      "event \(event.number) \(event.name): no module has handled it; told: "
        + (told.isEmpty ? isIdle ? "none, so start the Hive first" : "none" : told))
  }
}

/// `beehive_register_service_at`.
@implementation @c
package func beehive_register_service_at(
  _ service: UnsafePointer<CChar>?, _ implementation: UnsafePointer<CChar>?,
  _ table: UnsafeRawPointer?, _ size: Int, _ file: UnsafePointer<CChar>?, _ line: UInt32
) -> Bool {
  succeeds {
    unsafe try Hive.process.register(
      entry(service.text ?? "", implementation.text ?? "", table, size, (file, line)))
  }
}

/// `beehive_override_at`.
@implementation @c
package func beehive_override_at(
  _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ table: UnsafeRawPointer?,
  _ size: Int, _ file: UnsafePointer<CChar>?, _ line: UInt32
) -> Bool {
  succeeds {
    let names = unsafe (service: service.text ?? "", given: name.text)
    let override = unsafe try table.map {
      let entry = unsafe try entry(names.service, nil, $0, size, (file, line), given: names.given)
      return (entry, RuntimeAddress(rawValue: UInt(bitPattern: $0)))
    }
    let hive = Hive.process
    defer { hive.cache.collect(now: true) }
    let isDone = hive.state.withLock {
      $0.override(names.service, named: names.given, by: override, cache: hive.cache)
    }
    try Problem.check(isDone, "service \(names.service): no override of this name is there to end")
  }
}

/// `beehive_unregister_service`.
@implementation @c
package func beehive_unregister_service(_ service: UnsafePointer<CChar>?) -> Bool {
  unsafe beehive_unregister_service_named(service, nil)
}

/// `beehive_unregister_service_named`.
@implementation @c
package func beehive_unregister_service_named(
  _ service: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?
) -> Bool {
  succeeds {
    let names = unsafe (service: service.text ?? "", given: name.text)
    if Hive.process.removeServices(named: names.service, given: names.given) > 0 { return }
    let spelling = names.service + (names.given.map { " named \($0)" } ?? "")
    throw Problem(.badCall, "service \(spelling): nothing of this name is registered")
  }
}

/// `beehive_register_module_at`.
@implementation @c
package func beehive_register_module_at(
  _ name: UnsafePointer<CChar>?, _ operations: UnsafePointer<beehive_module_operations>?,
  _ size: Int,
  _ file: UnsafePointer<CChar>?, _ line: UInt32
) -> Bool {
  succeeds {
    let name = unsafe name.text ?? ""
    try Problem.check(
      unsafe operations != nil && !name.isEmpty, "a module needs a name and operations")
    let header = unsafe beehive_module_table(
      size: UInt32(MemoryLayout<beehive_module_table>.size),
      version: UInt32(BEEHIVE_MODULE_TABLE_VERSION), operations_size: size, operations: operations)
    let module = unsafe entry(
      name, nil, .moduleTable, header, .code(file: file.text ?? "", line: UInt(line)))
    try Hive.process.register(module)
    try waiting { () async throws in try await Hive.process.start([module]) }
  }
}

/// `beehive_unregister_module`.
@implementation @c
package func beehive_unregister_module(_ name: UnsafePointer<CChar>?) -> Bool {
  succeeds {
    let name = unsafe name.text ?? ""
    if try waiting({ await Hive.process.unregister(module: name) }) { return }
    throw Problem(.badCall, "module \(name): nothing of this name is registered")
  }
}

/// `beehive_remove`.
@implementation @c
package func beehive_remove(_ number: UInt64) -> Bool {
  succeeds {
    if try waiting({ await Hive.process.remove(number) }) { return }
    throw Problem(.badCall, "entry \(number): it is not there, or was removed")
  }
}

/// `beehive_remove_image`.
@implementation @c
package func beehive_remove_image(_ path: UnsafePointer<CChar>?) -> Bool {
  succeeds {
    let path = unsafe path.text ?? ""
    if try waiting({ await Hive.process.remove(image: path) }) > 0 { return }
    throw Problem(.badCall, "library \(path): it has not registered, or was removed")
  }
}

/// `beehive_replace_with`.
@implementation @c
package func beehive_replace_with(
  _ path: UnsafePointer<CChar>?, _ file: UnsafePointer<CChar>?
) -> Bool {
  succeeds {
    let (path, file) = unsafe (path.text ?? "", file.text)
    try waiting { () async throws in try await Hive.process.replace(image: path, with: file) }
  }
}

/// `beehive_entries`.
@implementation @c
package func beehive_entries(
  _ visit: (@convention(c) (UnsafePointer<beehive_entry>?, UnsafeMutableRawPointer?) -> Bool)?,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let visit = unsafe visit else { return 0 }
  return count(uncancelled { Hive.process.report().entries }) { line in
    unsafe line.withCEntry { entry in unsafe beehive_call_entry_visit(visit, entry, context) }
  }
}

/// `beehive_remarks`.
@implementation @c
package func beehive_remarks(
  _ visit: (@convention(c) (UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Bool)?,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let visit = unsafe visit else { return 0 }
  let report = uncancelled { Hive.process.report() }
  // Once a start has come to the modules, their entries have these reasons.
  let order = report.entries.contains { $0.launch != nil } ? [] : report.order
  return count(report.images + order + report.remarks) { remark in
    unsafe remark.escaped.withCString { unsafe beehive_call_remark_visit(visit, $0, context) }
  }
}

/// `beehive_last_error`.
@implementation @c
package func beehive_last_error() -> UnsafePointer<CChar>? { unsafe LastError.pointer }

/// Returns whether `body` succeeds. Its error becomes the last error of this thread.
private func succeeds(_ body: () throws -> Void) -> Bool { LastError.reported(body) != nil }

/// Makes the entry of a table that a host in C registers as a service.
private func entry(
  _ service: String, _ implementation: String?, _ table: UnsafeRawPointer?, _ size: Int,
  _ place: (file: UnsafePointer<CChar>?, line: UInt32), given: String? = nil
) throws(Problem) -> RegisteredEntry {
  try Problem.check(
    unsafe table != nil && size > 0 && !service.isEmpty,
    "a service needs a name and a table that is not empty")
  let header = unsafe beehive_service_table(
    size: UInt32(MemoryLayout<beehive_service_table>.size),
    version: UInt32(BEEHIVE_SERVICE_TABLE_VERSION), table_size: size, table: table)
  return unsafe entry(
    service, implementation, .serviceTable, header,
    .code(file: place.file.text ?? "", line: UInt(place.line)), given: given)
}

/// The structures that C hosts have registered, one for each content. They are never freed, because entries lead to
/// them, as records lead to structures of images.
private let keptStructures = Lock<[[UInt8]: RuntimeAddress]>([:])

/// Makes the entry of a structure that a C host registers, as a record would lead to it.
private func entry<Header>(
  _ name: String, _ implementation: String?, _ structure: CStructure, _ header: Header,
  _ source: Source, given: String? = nil
) -> RegisteredEntry {
  let address = unsafe withUnsafeBytes(of: header) { bytes in
    let bytes = unsafe Array(bytes)
    return keptStructures.withLock { kept in
      if let known = kept[bytes] { return known }
      let copy = UnsafeMutablePointer<Header>.allocate(capacity: 1)
      unsafe copy.initialize(to: header)
      let address = RuntimeAddress(rawValue: UInt(bitPattern: copy))
      kept[bytes] = address
      return address
    }
  }
  var attributes = Attributes()
  attributes.abi = structure.rawValue
  attributes.name = given
  return RegisteredEntry(
    kind: structure.kind, name: name, implementation: implementation, attributes: attributes,
    source: source,
    progress: .bound(.structure(structure, address)))
}

/// Runs async work to its end while the calling thread waits: C knows no other way.
@discardableResult
private func waiting<Value: Sendable>(
  _ work: @escaping @Sendable () async throws -> Value
) throws -> Value {
  if ForkedChild.isCurrent { throw Problem(.badCall, ForkedChild.message) }
  let result = Lock<Result<Value, any Error>?>(nil)
  func begin(_ end: @escaping @Sendable () -> Void) {
    // Not on the pool: its threads may all be in such calls.
    Task(executorPreference: ModuleThreads.shared) {
      let value = await TimeLimit.result(of: work)
      result.change { $0 = value }
      end()
    }
  }
  try Problem.check(
    ModuleThreads.shared.prepare(), "no thread can be made: \(systemMessage(errno))")
  var next = ContinuousClock.now + patience
  func check() throws(Problem) {
    guard ContinuousClock.now > next else { return }
    next += patience
    try Problem.check(
      !isKeepingOthersWaiting(),
      "this thread holds a lock of the loader that other threads wait for, so it waits no longer; its request goes "
        + "on, make it outside of constructors, destructors and callbacks of dl_iterate_phdr")
  }
  guard let isServed = try servingMainQueue(while: begin, check: check) else {
    throw Problem(.badCall, "no descriptor for the main queue: \(systemMessage(errno))")
  }
  try Problem.check(
    isServed,
    "a module waits for the main actor, but this call blocks the main actor: its thread is inside of a Swift task; "
      + "the request goes on, ask the Hive there with await")
  while true {
    if let made = result.wait(before: next, until: { $0 }) { return try made.get() }
    try check()
  }
}

/// The time that a call waits before it checks whether it keeps the loader from other threads.
private let patience = Duration.seconds(5)

extension ServiceScope {
  /// Returns the scope of a handle, which its owner keeps.
  fileprivate static func of(_ handle: OpaquePointer?) -> ServiceScope? {
    unsafe handle.map {
      unsafe Unmanaged<ServiceScope>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue()
    }
  }
}

/// Visits elements until `goesOn` returns false. Returns the number of visited elements.
private func count<Element>(_ elements: [Element], _ goesOn: (Element) -> Bool) -> Int {
  elements.firstIndex { !goesOn($0) }.map { $0 + 1 } ?? elements.count
}
