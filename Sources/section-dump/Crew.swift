internal import BinaryImage
internal import Threads

/// Threads that read files, while what they find is taken in the order of the files.
///
/// The thread that made the crew adds files and takes parts, and reads like the others where it has
/// nothing else to do. How much is read ahead of what was taken is bounded.
final class Crew<Part: Sendable> {
  typealias File = Result<Input, ImageError>
  /// Reads files one after another; all but the last part of the result may be handed on before.
  typealias Read = @Sendable (_ files: [File], _ handOn: (Part) -> Void) -> Part

  /// The most files that are read at a time: of many, handing over costs more than reading one.
  private static var mostFiles: Int { 32 }
  /// How many batches may be on their way for each thread.
  private static var lead: Int { 8 }

  private let jobs: Int
  private let read: Read
  private let take: (Part) -> Void
  private let desk = Lock(Desk<Part>())
  private var workers: [POSIXThread] = []
  private var files: [File] = []
  private var issued = 0
  private var taken = 0

  /// A crew of `jobs` threads, this one among them; `take` runs on this one.
  init(jobs: Int, read: @escaping Read, take: @escaping (Part) -> Void) {
    self.jobs = jobs
    self.read = read
    self.take = take
  }

  /// Has one more file read.
  func add(_ file: File) {
    files.append(file)
    // The first ones may be all: then each is worth a thread.
    if files.count >= min(Self.mostFiles, 1 + issued / (2 * jobs)) { issue() }
  }

  /// Returns when every file was read, and every part taken.
  func finish() {
    if !files.isEmpty { issue() }
    work(until: issued)
    desk.change { $0.isClosed = true }
    for worker in workers { worker.join() }
  }

  private func issue() {
    let batch = Desk<Part>.Batch(number: issued, files: files)
    issued += 1
    files = []
    let isBehind = desk.change { desk in
      desk.add(batch)
      return desk.waiting.count > 1
    }
    if isBehind, workers.count < jobs - 1 { hire() }
    work(until: issued - Self.lead * jobs)
  }

  private func hire() {
    let (desk, read) = (desk, read)
    let worker = POSIXThread {
      while let batch = desk.wait(until: { $0.next() }) {
        let part = read(batch.files) { part in
          desk.wait { $0.hasRoom(in: batch.number) ? () : nil }
          desk.change { $0.hand(part, of: batch.number) }
        }
        desk.change { $0.end(batch.number, with: part) }
      }
    }
    // Where the system gives no thread, this one does the work.
    if let worker { workers.append(worker) }
  }

  /// Takes what is there, and reads or waits until as many batches were taken.
  private func work(until count: Int) {
    takeReady()
    while taken < count {
      let next = desk.wait { desk in
        desk.hasReady ? .some(nil) : desk.waiting.isEmpty ? nil : desk.next()
      }
      if let next { work(on: next) }
      takeReady()
    }
  }

  private func work(on batch: Desk<Part>.Batch) {
    let part = read(batch.files) { part in
      // Nobody else takes what the others wait to be rid of.
      while !desk.wait(until: { $0.hasRoom(in: batch.number) ? true : $0.hasReady ? false : nil }) {
        takeReady()
      }
      desk.change { $0.hand(part, of: batch.number) }
      takeReady()
    }
    desk.change { $0.end(batch.number, with: part) }
  }

  private func takeReady() {
    while let (parts, turn) = desk.change({ $0.takeReady() }) {
      for part in parts { take(part) }
      taken = turn
    }
  }
}

/// What the threads of a crew share: batches to be read, and parts to be taken.
struct Desk<Part> {
  struct Batch {
    var number: Int
    var files: [Result<Input, ImageError>]
  }

  private struct Lane {
    var parts: [Part] = []
    var isDone = false
  }

  /// How many parts may wait whose batches are still being read.
  private static var mostHeld: Int { 64 }

  private(set) var waiting: ArraySlice<Batch> = []
  private var lanes: [Int: Lane] = [:]
  /// The batch whose parts are taken now.
  private var turn = 0
  private var held = 0
  var isClosed = false

  mutating func add(_ batch: Batch) {
    waiting.append(batch)
    lanes[batch.number] = Lane()
  }

  /// A batch to read; nil in place of one where no more will come, nil where that is not known yet.
  mutating func next() -> Batch?? {
    if let batch = waiting.popFirst() { return batch }
    return isClosed ? .some(nil) : nil
  }

  /// Whether another part of a batch may wait to be taken: always one of the batch whose turn it is.
  func hasRoom(in number: Int) -> Bool {
    held < Self.mostHeld || number == turn && lanes[number]?.parts.isEmpty == true
  }

  mutating func hand(_ part: Part, of number: Int) {
    lanes[number]?.parts.append(part)
    held += 1
  }

  mutating func end(_ number: Int, with part: Part) {
    hand(part, of: number)
    lanes[number]?.isDone = true
  }

  /// Whether there is something to take.
  var hasReady: Bool { lanes[turn].map { $0.isDone || !$0.parts.isEmpty } ?? false }

  /// What is to be taken next, and how many batches were taken as a whole with that.
  mutating func takeReady() -> (parts: [Part], turn: Int)? {
    guard hasReady, let lane = lanes[turn] else { return nil }
    held -= lane.parts.count
    if lane.isDone {
      lanes[turn] = nil
      turn += 1
    } else {
      lanes[turn]?.parts = []
    }
    return (lane.parts, turn)
  }
}
