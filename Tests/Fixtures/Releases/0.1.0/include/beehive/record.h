/* What one entry looks like in memory and on disk.
 *
 *   const beehive_record_head *record = …;                 // somewhere in BeehiveRecords
 *   const char *text = (const char *)record + record->text_offset;
 *
 * Section "The typed record" of CSupport/RecordLayout.md says what each field means. */
#ifndef BEEHIVE_RECORD_H
#define BEEHIVE_RECORD_H

#include "portability.h"

/* C identifiers, so ELF linkers define __start_ and __stop_ of them; at most 16 bytes, so Mach-O
 * can hold them. */
#define BEEHIVE_SECTION_MODS "BeehiveMods"
#define BEEHIVE_SECTION_SERVICES "BeehiveServices"
#define BEEHIVE_SECTION_RECORDS "BeehiveRecords"

#define BEEHIVE_RECORD_VERSION 1
#define BEEHIVE_RECORD_HEAD_SIZE 32

#define BEEHIVE_KIND_MODULE 1
#define BEEHIVE_KIND_SERVICE 2
#define BEEHIVE_KIND_TARGET 3
#define BEEHIVE_KIND_ROUTE 4
#define BEEHIVE_KIND_PLUGIN 5
#define BEEHIVE_KIND_FIRST_FOREIGN 0x8000 /* from here on other projects' kinds: shown, not used */

#define BEEHIVE_REQUEST_MAKE 0     /* put a value of `expected_type` into `out` */
#define BEEHIVE_REQUEST_DESCRIBE 1 /* put the identity of the type that is made into `out` */

BEEHIVE_C_BEGIN

/* Answers false to a request it does not know and to a type it does not make, so that a host with
 * another idea of the type gets nothing instead of garbage. Swift writes accessors; C leaves them
 * null and says in the attribute `abi` what `context` points to. */
typedef bool (*beehive_accessor)(void *out, const void *expected_type, const void *context,
                                 uintptr_t request);

/* 32 bytes on every machine, so a reader of files needs one layout: a 4-byte pointer comes first
 * in its 8 bytes, zeros follow. */
typedef struct beehive_record_head {
  uint32_t size; /* of the whole record, a multiple of 8; 0 is a padding word */
  uint16_t version;
  uint16_t kind;
  uint32_t flags;
  uint32_t text_offset;
  beehive_accessor accessor;
#if __SIZEOF_POINTER__ == 4
  uint32_t accessor_padding;
#endif
  const void *context;
#if __SIZEOF_POINTER__ == 4
  uint32_t context_padding;
#endif
} beehive_record_head;

BEEHIVE_C_END

#endif
