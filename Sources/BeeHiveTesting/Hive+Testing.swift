public import BeeHive
import Glibc
public import Testing

extension Hive {
  /// Creates a Hive of what these libraries declare, without anything else that the process has loaded.
  ///
  ///     let hive = try Hive(opening: "libShop.so")
  ///
  /// - Parameter files: The libraries, found as `builtFile(_:)` does and opened with `dlopen`; they stay open.
  /// - Throws: ``Problem`` of the code `not-loaded`, with the loader's reason.
  public convenience init(opening files: String...) throws {
    var chosen: Set<String> = []
    for path in files.map(builtFile) {
      guard unsafe dlopen(path, RTLD_NOW) != nil else {
        let reason = unsafe String(cString: dlerror())
        throw Problem(Problem.Code(rawValue: "not-loaded"), "\(path) cannot be opened: \(reason)")
      }
      chosen.insert(canonical(path))
    }
    self.init(imagesWhere: { [chosen] in chosen.contains(canonical($0)) })
  }

  /// Creates a Hive of only these entries, by the rules for what images and files declare.
  ///
  ///     let hive = try Hive(planting: Registrations(services: [.init(service: "Shop.Cart", impl: "Cart")]))
  ///
  /// - Parameter entries: The entries, as a file would state them. Names are those of types, or are bound with `bind`.
  /// - Throws: ``Problem`` of the first rejected entry.
  public convenience init(planting entries: Registrations) throws {
    self.init()
    try register(entries, file: "planted")
    for case .rejected(let problem) in self.entries.map(\.state) { throw problem }
  }
}

/// Expects that a file declares an entry, without loading the file.
///
///     expectRegistered("libShop.so", .service, "Shop.Cart", as: "Shop.PaperCart")
///
/// Otherwise records an issue: what the file declares instead, its rejected entries with the reasons, and names
/// that are nearly the same.
///
/// - Parameters:
///   - file: The file, as ``builtFile(_:)`` finds it.
///   - kind: `.module`, `.service`, `.target` or `.route`.
///   - name: Its name; the name of a type may leave out its qualifiers.
///   - implementation: The implementation; nil for any.
///   - location: The location of the issue.
public func expectRegistered(
  _ file: String, _ kind: RecordKind, _ name: String, as implementation: String? = nil,
  at location: SourceLocation = #_sourceLocation
) {
  do {
    let lack = try UnloadedFile(builtFile(file)).lack(of: kind, name, as: implementation)
    if let lack { Issue.record("\(lack)", sourceLocation: location) }
  } catch {
    Issue.record(error, sourceLocation: location)
  }
}

/// Returns the path of a file that was built with the running tests.
///
/// - Parameter name: `libShop.so`: looked up next to the test binary, where a build has its products. A name
///   with a slash is a path already.
/// - Returns: The path.
public func builtFile(_ name: String) -> String {
  guard !name.contains("/"), let slash = CommandLine.arguments[0].lastIndex(of: "/") else {
    return name
  }
  return CommandLine.arguments[0][...slash] + name
}

/// Returns the path of a file with all links resolved; the path itself if there is no such file.
private func canonical(_ path: String) -> String {
  guard let resolved = unsafe realpath(path, nil) else { return path }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}

/// Records what a Hive does, in the order of its notices, until the last reference goes.
///
///     let recorder = NoticeRecorder(hive)
///     try await hive.start()
///     #expect(recorder.steps == ["Shop.Basket setUp", "Shop.Basket initialize", "Shop.Basket splash"])
public final class NoticeRecorder: Sendable {
  /// The notices, under a lock that the thread sanitizer understands.
  @safe private final class Kept: @unchecked Sendable {
    // Sound: `notices` is only used between `lock` and `unlock`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var notices: [HiveNotice] = []

    init() { unsafe pthread_mutex_init(mutex, nil) }

    deinit {
      unsafe pthread_mutex_destroy(mutex)
      unsafe mutex.deallocate()
    }

    func update<Result>(_ body: (inout [HiveNotice]) -> Result) -> Result {
      unsafe pthread_mutex_lock(mutex)
      defer { unsafe pthread_mutex_unlock(mutex) }
      return body(&notices)
    }
  }

  private let kept: Kept
  private let observation: Handle

  /// Records from now on.
  ///
  /// - Parameters:
  ///   - hive: The Hive to record.
  ///   - fromStart: Whether to record the present entries too, as if they came now.
  public init(_ hive: Hive, fromStart: Bool = false) {
    let kept = Kept()
    self.kept = kept
    observation = hive.observe(fromStart: fromStart) { notice in
      kept.update { $0.append(notice) }
    }
  }

  deinit { observation.cancel() }

  /// The notices so far.
  public var notices: [HiveNotice] { kept.update { $0 } }

  /// The calls of modules that have begun: `Shop.Basket setUp`, events among them.
  public var steps: [String] {
    notices.compactMap { notice in
      if case .stepBegan(let step) = notice { "\(step.module) \(step.event)" } else { nil }
    }
  }
}

/// Overrides a service for the task of each test: tests that run meanwhile get their own.
public struct OverrideTrait: TestTrait, SuiteTrait, TestScoping {
  fileprivate let scope: @Sendable (_ body: @Sendable () async throws -> Void) async throws -> Void

  /// Each test of a suite has the override to itself.
  public var isRecursive: Bool { true }

  /// Runs a test with the override.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws { try await scope(function) }
}

extension Trait where Self == OverrideTrait {
  /// Overrides a service while a test runs, for its task and those that it starts.
  ///
  ///     @Test(.overriding((any Mail).self, with: MockMail())) func sends() { … }
  ///
  /// The test gets singletons of its own.
  ///
  /// - Parameters:
  ///   - type: The type that callers look the service up by.
  ///   - name: The given name of the service to replace; nil for the one that callers get without a name.
  ///   - hive: The Hive that has the service.
  ///   - instance: The new instance, made for each test.
  /// - Returns: The trait, for a test or a suite.
  public static func overriding<Service: Sendable>(
    _ type: Service.Type, name: String? = nil,
    in hive: @autoclosure @escaping @Sendable () -> Hive = .process,
    with instance: @autoclosure @escaping @Sendable () -> Service
  ) -> Self {
    OverrideTrait { body in
      try await hive().overridingInTask(type, name: name, with: instance()) { try await body() }
    }
  }
}
