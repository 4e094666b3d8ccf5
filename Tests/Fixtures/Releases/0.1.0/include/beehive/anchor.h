/* How an image gets its note and its call of the hook, once, from whichever file has an entry.
 *
 *   BEEHIVE_IMAGE_ONCE                       // every annotation begins with it; no semicolon after
 *
 * The headers must emit nothing when they are only included, and an annotation may be in a file
 * any number of times. So nothing here relies on the preprocessor remembering what it has expanded
 * (a precompiled header forgets that): each part is legal C or C++ when it is written again. */
#ifndef BEEHIVE_ANCHOR_H
#define BEEHIVE_ANCHOR_H

#include "image.h"

#if defined(__MACH__)
/* dyld tells the runtime of every image, and its headers find the sections. */
#define BEEHIVE_IMAGE_ONCE BEEHIVE_AT_FILE_SCOPE
#elif !defined(__swift__) /* Swift reads these headers for their types */

BEEHIVE_C_BEGIN
extern const char __ehdr_start[] BEEHIVE_HIDDEN;
extern const char __start_BeehiveMods[] BEEHIVE_HIDDEN;
extern const char __stop_BeehiveMods[] BEEHIVE_HIDDEN;
extern const char __start_BeehiveServices[] BEEHIVE_HIDDEN;
extern const char __stop_BeehiveServices[] BEEHIVE_HIDDEN;
extern const char __start_BeehiveRecords[] BEEHIVE_HIDDEN;
extern const char __stop_BeehiveRecords[] BEEHIVE_HIDDEN;
BEEHIVE_C_END

/* The bodies of the two functions below. `size` makes both happen once even where a link-time
 * optimiser keeps two copies of the calling words (ThinLTO does). The node is filled here and not
 * by an initialiser: an image then carries no relocation for it. */
#define BEEHIVE_ANNOUNCE_                       \
  beehive_image *image = &beehive_this_image;   \
  if (image->size != 0) return;                 \
  image->size = sizeof(beehive_image);          \
  image->version = BEEHIVE_IMAGE_VERSION;       \
  image->header = __ehdr_start;                 \
  image->mods = __start_BeehiveMods;            \
  image->mods_end = __stop_BeehiveMods;         \
  image->services = __start_BeehiveServices;    \
  image->services_end = __stop_BeehiveServices; \
  image->records = __start_BeehiveRecords;      \
  image->records_end = __stop_BeehiveRecords;   \
  if (beehive_image_event) beehive_image_event(image, BEEHIVE_IMAGE_UP);

#define BEEHIVE_WITHDRAW_                                                  \
  beehive_image *image = &beehive_this_image;                              \
  if (image->size == 0) return;                                            \
  if (beehive_image_event) beehive_image_event(image, BEEHIVE_IMAGE_DOWN); \
  image->size = 0;

#ifdef __cplusplus

/* C++ emits an inline variable where it is used, and a member function of a template where it is
 * instantiated; `used` because only the assembler text below names the functions. */
extern "C" {
inline BEEHIVE_HIDDEN beehive_image beehive_this_image{};
}

/* Also where an author includes the headers within extern "C". */
extern "C++" {
template <int Only>
struct beehive_image_anchor {
  __attribute__((__used__)) BEEHIVE_HIDDEN static void up() { BEEHIVE_ANNOUNCE_ }
  __attribute__((__used__)) BEEHIVE_HIDDEN static void down() { BEEHIVE_WITHDRAW_ }
};

template <void (*Up)(), void (*Down)()>
struct beehive_instantiated {
  static constexpr bool value = true;
};
}

#define BEEHIVE_IMAGE_ONCE                                                       \
  BEEHIVE_AT_FILE_SCOPE                                                          \
  static_assert(::beehive_instantiated<&::beehive_image_anchor<0>::up,           \
                                       &::beehive_image_anchor<0>::down>::value, \
                "");                                                             \
  BEEHIVE_IMAGE_SECTIONS_("_ZN20beehive_image_anchorILi0EE2upEv",                \
                          "_ZN20beehive_image_anchorILi0EE4downEv")

#else

/* C emits an inline function where a declaration says `extern`, and a variable without initialiser
 * as often as one likes; weak makes the copies of all files one. gcc wants `used` on the later
 * declaration, clang takes it on no such function and needs none: it sees the assembler's use. */
#if defined(__clang__)
#define BEEHIVE_NAMED_BY_ASM
#define BEEHIVE_REPEATED(declarations) declarations
#else
#define BEEHIVE_NAMED_BY_ASM __attribute__((__used__))
#define BEEHIVE_REPEATED(declarations)                    \
  _Pragma("GCC diagnostic push")                          \
  _Pragma("GCC diagnostic ignored \"-Wredundant-decls\"") \
  declarations                                            \
  _Pragma("GCC diagnostic pop")
#endif

extern beehive_image beehive_this_image __attribute__((__weak__)) BEEHIVE_HIDDEN;

/* The pragma, since gcc refuses the attribute on functions it knows to be inline. */
#pragma weak beehive_image_up
#pragma weak beehive_image_down
BEEHIVE_HIDDEN inline void beehive_image_up(void) { BEEHIVE_ANNOUNCE_ }
BEEHIVE_HIDDEN inline void beehive_image_down(void) { BEEHIVE_WITHDRAW_ }

#define BEEHIVE_IMAGE_ONCE                                                     \
  BEEHIVE_AT_FILE_SCOPE                                                        \
  BEEHIVE_REPEATED(beehive_image beehive_this_image;                           \
                   extern void beehive_image_up(void) BEEHIVE_NAMED_BY_ASM;    \
                   extern void beehive_image_down(void) BEEHIVE_NAMED_BY_ASM;) \
  BEEHIVE_IMAGE_SECTIONS_("beehive_image_up", "beehive_image_down")

#endif

#if __SIZEOF_POINTER__ == 8
#define BEEHIVE_ASM_POINTER ".balign 8\n.quad "
#else
#define BEEHIVE_ASM_POINTER ".balign 4\n.long "
#endif

/* The three sections exist in every image that has a note, empty if need be, or their bounds would
 * be undefined. mold keeps apart what differs in flags, so these are what the compiler gives a
 * constant with relocations: writable if the code is position independent, read-only otherwise. */
#if defined(__PIC__) || defined(__PIE__)
#define BEEHIVE_ASM_ENTRY_FLAGS "aw"
#else
#define BEEHIVE_ASM_ENTRY_FLAGS "a"
#endif

#define BEEHIVE_ASM_IN_GROUP(name, flags, type)                       \
  ".pushsection " name ",\"" flags "G" BEEHIVE_ASM_RETAIN "\",%" type \
  ",beehive_image_group,comdat\n"

#define BEEHIVE_ASM_RELATIVE(symbol) ".long " symbol " - .\n"

/* The guard makes one copy of several annotations in a file, the group one of several files.
 * All parts are in one group, so that the words in .init_array and .fini_array come from the same
 * file, and so that what keeps one of them keeps all; R retains a group whose linker thinks
 * otherwise. */
#define BEEHIVE_IMAGE_SECTIONS_(up, down)                                              \
  __asm__(".ifndef .Lbeehive_image_once\n"                                             \
          ".set .Lbeehive_image_once, 1\n"                                             \
          ".hidden __ehdr_start\n"                                                     \
          BEEHIVE_ASM_IN_GROUP("BeehiveMods", BEEHIVE_ASM_ENTRY_FLAGS, "progbits")     \
          ".balign 8\n.popsection\n"                                                   \
          BEEHIVE_ASM_IN_GROUP("BeehiveServices", BEEHIVE_ASM_ENTRY_FLAGS, "progbits") \
          ".balign 8\n.popsection\n"                                                   \
          BEEHIVE_ASM_IN_GROUP("BeehiveRecords", BEEHIVE_ASM_ENTRY_FLAGS, "progbits")  \
          ".balign 8\n.popsection\n"                                                   \
          BEEHIVE_ASM_IN_GROUP(".init_array", "aw", "init_array")                      \
          BEEHIVE_ASM_POINTER up "\n.popsection\n"                                     \
          BEEHIVE_ASM_IN_GROUP(".fini_array", "aw", "fini_array")                      \
          BEEHIVE_ASM_POINTER down "\n.popsection\n"                                   \
          BEEHIVE_ASM_IN_GROUP(".note.beehive", "a", "note")                           \
          ".balign 4\n"                                                                \
          ".long 8, 36, 0x42454501\n"                                                  \
          ".asciz \"Beehive\"\n"                                                       \
          ".long 1, 0\n"                                                               \
          BEEHIVE_ASM_RELATIVE("__ehdr_start")                                         \
          BEEHIVE_ASM_RELATIVE("__start_BeehiveMods")                                  \
          BEEHIVE_ASM_RELATIVE("__stop_BeehiveMods")                                   \
          BEEHIVE_ASM_RELATIVE("__start_BeehiveServices")                              \
          BEEHIVE_ASM_RELATIVE("__stop_BeehiveServices")                               \
          BEEHIVE_ASM_RELATIVE("__start_BeehiveRecords")                               \
          BEEHIVE_ASM_RELATIVE("__stop_BeehiveRecords")                                \
          ".popsection\n"                                                              \
          ".endif\n");

#endif
#endif
