// Entries of somebody who has no header, mistakes included.
#define ENTRY(name) \
  __attribute__((used, retain, aligned(8), section(name))) static const char *const
ENTRY("BeehiveMods") good = "Hand.Written";
ENTRY("BeehiveMods") nothing = 0;
ENTRY("BeehiveMods") hostile = "Evil\033[31m\033]0;title\007\r\n\x7f\xc2\x9b\xe2\x80\xae.Name";
ENTRY("BeehiveServices") service = "{ \"Hand.Service\" : \"Hand.\\u0056iew\" }";
ENTRY("BeehiveServices") damaged = "{ \"\033[2JHand\" }";
ENTRY("list") first = "one";
ENTRY("list") second = "two";
