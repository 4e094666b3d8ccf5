import Glibc
import TestSupport
import Testing

@testable import BeeHive

@Suite("Memory pressure", .mayHang)
struct MemoryPressureTests {
  /// Runs a Hive. Its only module ends it at a memory warning; otherwise a timer does.
  private func run(
    _ source: MemoryPressure, limit: Duration = .seconds(300),
    onStart: @escaping @Sendable () -> Void = {}, onWarning: @escaping @Sendable () -> Void = {}
  ) async throws -> (report: RunReport, isTold: Bool) {
    let hive = Hive()
    let told = Counter()
    try await hive.probe("a") { _, _ in
    } answer: { event, context in
      guard event.kind == .didReceiveMemoryWarning else { return .ignored }
      onWarning()
      told.next()
      await context.hive.stop()
      return .handled
    }
    let timer = Task {
      try await Task.sleep(for: limit)
      // Stop repeatedly, because the Hive may not even have begun to start.
      while true {
        await hive.stop()
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    let starter = Task {
      while await hive.runningModules.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
      onStart()
    }
    defer { for task in [timer, starter] { task.cancel() } }
    let report = try await hive.run(options: RunOptions(signals: [], memoryPressure: source))
    return (report, told.count > 0)
  }

  /// Sends urgent data. Poll reports it as POLLPRI, like the kernel's pressure file.
  @discardableResult
  private func sendUrgent(to socket: Int32) -> Bool {
    var byte: UInt8 = 1
    return unsafe send(socket, &byte, 1, Int32(MSG_OOB)) == 1
  }

  private func receiveUrgent(from socket: Int32) {
    var byte: UInt8 = 0
    _ = unsafe recv(socket, &byte, 1, Int32(MSG_OOB) | Int32(MSG_DONTWAIT))
  }

  @Test("a descriptor that becomes readable with priority is the event")
  func descriptor() async throws {
    var sockets: [Int32] = [-1, -1]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
    defer { for socket in sockets { close(socket) } }
    let (sender, receiver) = (sockets[0], sockets[1])
    try #require(sendUrgent(to: sender), "this kernel has no urgent data on local sockets")
    receiveUrgent(from: receiver)
    let outcome = try await run(MemoryPressure(descriptor: receiver)) {
      sendUrgent(to: sender)
    } onWarning: {
      // Unread data stays urgent without end, and keeps a processor busy.
      receiveUrgent(from: receiver)
    }
    #expect(outcome.isTold)
    #expect(outcome.report.memoryPressure == "memory pressure: descriptor \(receiver)")
  }

  @Test("no file, or one that may not be written to: none, and the report says why")
  func unavailable() async throws {
    let (report, isTold) = try await run(
      .file("/nowhere/memory.pressure"), limit: .milliseconds(20))
    #expect(!isTold)
    #expect(
      report.memoryPressure
        == "memory pressure: not observed (/nowhere/memory.pressure: No such file or directory)")
    let none = try await run(.none, limit: .milliseconds(20))
    #expect(none.report.memoryPressure == "memory pressure: not observed")
  }

  @Test("a file that cannot be used is followed by the next; every reason is told where none can")
  func fallback() throws {
    // The file exists and is writable, like a pressure file.
    let good = "/dev/null"
    let (descriptor, outcome) = MemoryPressure(
      paths: ["/nowhere/memory.pressure", "/proc", good]
    ).open()
    defer { close(descriptor) }
    #expect(outcome == "memory pressure: \(good)")
    let none = MemoryPressure(paths: ["/nowhere/memory.pressure", "/proc"]).open()
    #expect(none.descriptor == -1)
    #expect(
      none.outcome
        == "memory pressure: not observed (/nowhere/memory.pressure: No such file or directory; "
        + "/proc: Is a directory)")
  }

  @Test("the files of a group come before that of the system")
  func paths() {
    let group = MemoryPressure.controlGroup(in: "4:memory:/x\n0::/shop/a b\n")
    #expect(group == "/shop/a b")
    #expect(MemoryPressure.controlGroup(in: "0::/\n") == nil, "the root's is the whole system")
    #expect(MemoryPressure.controlGroup(in: "") == nil)
    #expect(MemoryPressure.standardPaths.last == "/proc/pressure/memory")
  }

  @Test("the kernel accepts the trigger where it offers one")
  func kernel() {
    let (descriptor, outcome) = MemoryPressure.automatic.open()
    defer { close(descriptor) }
    print(outcome)
    #expect(descriptor >= 0 || outcome.hasPrefix("memory pressure: not observed ("))
  }
}
