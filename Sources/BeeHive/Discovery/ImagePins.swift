internal import BinaryImage
internal import Threads

/// Pins images that have not done it themselves: hand-written entries, hosts that export no hook, and constructors
/// that run before the image's anchor.
///
/// On a thread of its own: while a constructor runs, the loader lets nobody else in, and a constructor may wait for the
/// thread that asks. An image that is not pinned in time is left for the next look.
struct ImagePins {
  private struct Job {
    /// What is being pinned; nil while nothing is.
    var images: [LoadedImage]?
    var results: [MappedImage.ID: Result<Void, ImageError>] = [:]
  }

  private let job = Lock(Job())
  /// How long a constructor of another thread is waited for.
  private static let patience = Duration.milliseconds(100)

  /// Pins images; returns what came of each, and nothing of one that is left for the next look.
  func pin(_ images: [LoadedImage]) -> [MappedImage.ID: Result<Void, ImageError>] {
    guard !images.isEmpty else { return [:] }
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let isMine = job.withLock { job in
        guard job.images == nil else { return false }
        job.images = images
        return true
      }
      if isMine, !POSIXThread.detach({ [job] in Self.run(job) }) { Self.run(job) }
      let results = job.wait(before: deadline) { $0.images == nil ? $0.results : nil }
      guard let results else { return [:] }
      if isMine { return results }
    }
  }

  private static func run(_ job: Lock<Job>) {
    let images = job.withLock { $0.images ?? [] }
    var results: [MappedImage.ID: Result<Void, ImageError>] = [:]
    for image in images {
      results[image.mapped.id] = Result { () throws(ImageError) in try image.pin() }
    }
    job.change { $0 = Job(images: nil, results: results) }
  }
}
