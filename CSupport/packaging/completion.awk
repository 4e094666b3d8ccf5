# Completes a command line without a command's name as one of records, the default, which the scripts of the parser do
# not. `name` is that of the program.

# bash: what records takes, beside the commands at first.
/# Offer subcommand completions/ {
  print
  getline
  print
  print "        (( COMP_CWORD == 1 )) || COMPREPLY=()"
  print "        unparsed_words=(\"${COMP_WORDS[@]:1:${COMP_CWORD}}\")"
  print "        _" name "_records"
  next
}

# zsh: the first word may be a file, too; options and what follows a file are those of records.
/^    local -ir current_word_index=/ {
  print
  print "    if [[ \"${PREFIX}\" == -* || \"${CURRENT}\" -gt 2 ]] &&"
  print "        (( ! ${+functions[_" name "_${words[2]}]} )); then"
  print "        _" name "_records"
  print "        return"
  print "    fi"
  next
}
/^ *_describe -V subcommand / {
  print
  print "        _files && ret=0"
  next
}

# fish: each line of records once more.
index($0, "\"" name " records\"") {
  line = $0
  sub("\"" name " records\"", "\"" name "\"", line)
  print line
}
{ print }
