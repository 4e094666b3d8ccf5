internal import CImageList

extension ImageList {
  /// What became of one image that was to be copied.
  public enum Copy: Sendable {
    /// It is as it was in the list.
    case image(LoadedImage)
    /// It has been unmapped since the list was updated.
    case gone
    /// Its sections cannot be found, for this reason; whether it declares anything is unknown.
    case failed(ImageError)
  }

  /// Copies the sections of the images at `positions`, in one walk of the loader's list.
  ///
  /// An image whose note is valid is read from memory alone. For any other its file is opened, and
  /// believed only if it is the one that is mapped.
  public borrowing func copy(_ positions: [Int]) -> [Copy] {
    var answers = [Copy](repeating: .gone, count: positions.count)
    var plans: [CopyPlan] = []
    plans.reserveCapacity(positions.count)
    for (answer, position) in positions.enumerated() {
      let mapped = self[position]
      let entry = entry(position)
      if mapped.role == .vdso {
        answers[answer] = .image(LoadedImage(unread: mapped, entry))
      } else {
        plans.append(CopyPlan(answer: answer, mapped: mapped, entry: entry))
      }
    }
    // One round for almost all; another for each path that leads to something else.
    while !plans.isEmpty {
      // By index: a plan is large, and to copy one costs more than to ask it.
      for index in plans.indices.reversed() {
        guard let failure = plans[index].failure else { continue }
        answers[plans.remove(at: index).answer] = .failed(failure)
      }
      guard var copies = LoaderCopies(of: plans) else {
        for plan in plans { answers[plan.answer] = .failed(plan.error(.unreadable, "No memory.")) }
        break
      }
      var again: [CopyPlan] = []
      for index in plans.indices {
        if let answer = copies.answer(index, plans[index]) {
          answers[plans[index].answer] = answer
        } else {
          again.append(plans[index].disappointed())
        }
      }
      plans = again
    }
    return answers
  }
}
