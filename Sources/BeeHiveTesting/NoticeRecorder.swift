public import BeeHive
import Glibc

/// Keeps what a Hive does, in the order in which it tells it, until the last reference goes.
///
///     let recorder = NoticeRecorder(hive)
///     try await hive.start()
///     #expect(recorder.steps == ["Shop.Basket setUp", "Shop.Basket initialize", "Shop.Basket splash"])
public final class NoticeRecorder: Sendable {
  /// What was told, behind a lock that the thread sanitizer understands.
  @safe private final class Kept: @unchecked Sendable {
    // Sound: `notices` is used between `lock` and `unlock` alone.
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
  ///   - hive: What is recorded.
  ///   - fromStart: Whether to record the present entries too, as if they came now.
  public init(_ hive: Hive, fromStart: Bool = false) {
    let kept = Kept()
    self.kept = kept
    observation = hive.observe(fromStart: fromStart) { notice in
      kept.update { $0.append(notice) }
    }
  }

  deinit { observation.cancel() }

  /// Everything that was told so far.
  public var notices: [HiveNotice] { kept.update { $0 } }

  /// The calls of modules that have begun: `Shop.Basket setUp`, events among them.
  public var steps: [String] {
    notices.compactMap { notice in
      if case .stepBegan(let step) = notice { "\(step.module) \(step.event)" } else { nil }
    }
  }
}
