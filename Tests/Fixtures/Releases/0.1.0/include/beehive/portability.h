/* The differences between compilers, object formats and languages. Of the other headers only anchor.h has an #if for
 * these; anchor.h, record.h and macros.h also test the size of a pointer.
 *
 *   static const char *const BEEHIVE_UNIQUE(beehive_entry_)
 *     BEEHIVE_ENTRY_IN(BEEHIVE_SECTION_MODS) = "Shop.ShopModule";
 *
 * The binary contract is CSupport/RecordLayout.md. */
#ifndef BEEHIVE_PORTABILITY_H
#define BEEHIVE_PORTABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__ELF__) && !defined(__MACH__)
#error "BeeHive.h writes ELF and Mach-O sections; this target has neither"
#endif

#if !defined(__has_attribute)
#error "BeeHive.h needs a compiler with __has_attribute: gcc 11, clang 13 or newer"
#endif

#ifdef __cplusplus
#if __cplusplus < 201703L
#error "BeeHive.h needs C++17: its once-per-image node is an inline variable"
#endif
#define BEEHIVE_C_BEGIN extern "C" {
#define BEEHIVE_C_END }
#define BEEHIVE_NULL nullptr
#define BEEHIVE_CAST(type, pointer) (static_cast<type>(pointer))
#define BEEHIVE_STATIC_ASSERT(condition, text) static_assert(condition, text)
/* Refuses a place inside a function: there the name of the function is not empty. */
#define BEEHIVE_AT_FILE_SCOPE                  \
  static_assert(*__builtin_FUNCTION() == '\0', \
                "BeeHive: an annotation belongs at file or namespace scope, not inside a function");
#else
#if defined(__GNUC_GNU_INLINE__)
#error "BeeHive.h needs the inline functions of C99: drop -std=gnu89 and -fgnu89-inline"
#endif
#define BEEHIVE_C_BEGIN
#define BEEHIVE_C_END
#define BEEHIVE_NULL ((void *)0)
#define BEEHIVE_CAST(type, pointer) ((type)(pointer))
#define BEEHIVE_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
/* Refuses a place inside a function: there the first declaration makes another type. */
struct beehive_file_scope;
typedef struct beehive_file_scope *beehive_file_scope_pointer;
#define BEEHIVE_AT_FILE_SCOPE                                                                   \
  struct beehive_file_scope;                                                                    \
  _Static_assert(                                                                               \
      _Generic((struct beehive_file_scope *)0, beehive_file_scope_pointer: 1, default: 0) == 1, \
      "BeeHive: an annotation belongs at file scope, not inside a function");
#endif

/* `retain` (SHF_GNU_RETAIN) keeps an entry through `--gc-sections`, which release builds of SwiftPM
 * and many others pass; `used` stops only the compiler. Without it entries vanish silently. */
#if defined(__MACH__)
#define BEEHIVE_RETAIN          /* `used` sets no_dead_strip there; `retain` is unknown to Mach-O */
#elif defined(BEEHIVE_WITHOUT_RETAIN)
#define BEEHIVE_RETAIN
#define BEEHIVE_ASM_RETAIN ""
#elif __has_attribute(retain)
#define BEEHIVE_RETAIN __retain__,
#define BEEHIVE_ASM_RETAIN "R"  /* an assembler that does not know it is older than binutils 2.36 */
#else
#error "no attribute `retain`: use gcc 11 or clang 13; or never link with --gc-sections and define \
BEEHIVE_WITHOUT_RETAIN"
#endif

/* AddressSanitizer pads the variables of a named section on Mach-O only; a padded entry no longer
 * abuts the next one. */
#if defined(__MACH__)
#define BEEHIVE_SEGMENT "__DATA,"
#define BEEHIVE_UNPADDED __no_sanitize__("address"),
#else
#define BEEHIVE_SEGMENT
#define BEEHIVE_UNPADDED
#endif

/* aligned(8): left alone, gcc aligns a large variable to 32 and leaves holes between entries.
 * Every entry must also be const: one section cannot hold both const and writable variables. */
#define BEEHIVE_ENTRY_IN(name)                                             \
  __attribute__((__used__, BEEHIVE_RETAIN BEEHIVE_UNPADDED __aligned__(8), \
                 __section__(BEEHIVE_SEGMENT name)))

/* An image's own business: no other image may bind to it, whatever -fvisibility says. */
#define BEEHIVE_HIDDEN __attribute__((__visibility__("hidden")))

/* A name that no other declaration has. It is not made from the author's words, since `Shop.ShopModule` is no
 * identifier, and two levels are what lets __COUNTER__ expand before the paste. */
#define BEEHIVE_PASTE_(left, right) left##right
#define BEEHIVE_PASTE(left, right) BEEHIVE_PASTE_(left, right)
#define BEEHIVE_UNIQUE(prefix) BEEHIVE_PASTE(prefix, __COUNTER__)

#endif
