# Makes a part of a manual page (mdoc) of what `section-dump help` says: of `command`, or of the whole where that is empty.

function escaped(line) {
  gsub(/\\/, "\\e", line)
  return line ~ /^[.']/ ? "\\&" line : line
}
function add(line) {
  if (gap && count) text[++count] = ".Pp"
  gap = 0
  text[++count] = line
}
# What it is about comes behind how it is called in a page, and before that in a command's help.
function tell() {
  if (count) print command ? ".Ss " command : ".Sh DESCRIPTION"
  for (i = 1; i <= count; i++) print text[i]
  count = 0
}
function end_list() {
  if (part == "list") print ".El"
}

sub(/^OVERVIEW: /, "") { part = "text" }
sub(/^USAGE: /, "       ") {
  part = "usage"
  if (command) tell()
  print command ? ".Pp" : ".Sh SYNOPSIS\n.Bd -literal -compact"
}
sub(/^[A-Z]+:$/, substr($0, 1, length($0) - 1)) {
  end_list()
  tell()
  part = "list"
  print (command ? ".Pp\n.Em " : ".Sh ") $0 "\n.Bl -tag -width Ds"
  next
}
part == "text" && match($0, /Exit status: /) {
  if (RSTART > 1) add(escaped(substr($0, 1, RSTART - 2)))
  gap = command != ""
  add(command ? "Exit status:" : ".Sh EXIT STATUS")
  $0 = substr($0, RSTART + RLENGTH)
}
part == "text" && /^$/ { gap = 1 }
part == "text" && /./ { add(escaped($0)) }
part == "usage" && /^$/ {
  if (!command) print ".Ed"
  part = ""
}
part == "usage" { print escaped(substr($0, 8)) }
part == "list" && /^  See / { next }
part == "list" && /^  [^ ]/ {
  match($0, /[^ ]   *[^ ]|$/)
  print ".It \\&" escaped(substr($0, 3, RSTART - 2))
  $0 = substr($0, RSTART + 1)
}
part == "list" && sub(/^ */, "") && /./ { print escaped($0) }
END {
  end_list()
  tell()
}
