/// Why a command fails: the package manager makes status 1 of it.
///
/// A file of its own, since each plugin has a link to it: plugins share no code.
struct Failure: Error, CustomStringConvertible {
  var description: String
}
