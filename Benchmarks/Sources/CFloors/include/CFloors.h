/* What the library is measured against, in plain C, and what measuring needs from C. */
#ifndef CFLOORS_H
#define CFLOORS_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of a clock that only grows. */
uint64_t floor_clock(void);

/* The path of the library that defines a symbol of this process, as the loader has it; NULL if none. */
const char *floor_library_of(const char *symbol);

/* Has the allocator put together what was freed in small pieces, as it does when it is next asked for a
 * larger one. */
void floor_settle(void);

/* Under callgrind, counting starts anew, and what was counted since is written under `name`.
 * Elsewhere, and where valgrind's headers are missing, they do nothing. */
void floor_count_begin(void);
void floor_count_end(const char *name);
/* Whether this build can mark what callgrind counts. */
int floor_counts(void);

/* The bare walk of the loader's list: finds each image's note through its program headers, and keeps
 * the three ranges that it gives. How many images have one. */
size_t floor_walk_notes(void);

/* What remains without a note, in plain libelf: opens every image's file, compares its headers with
 * those that are mapped, finds the three sections by name, copies them and the texts that they
 * lead to. How many entries there are. */
size_t floor_walk_files(void);

/* Finds the three sections of a file by name, in plain libelf. How many it has. */
size_t floor_find_sections(const char *path);

/* Reads all bytes of every file in a folder: open, fstat, one pread, close. How many bytes. */
size_t floor_read_folder(const char *path);

/* The memory that no file has (RssAnon), in bytes, once the allocator has given back what is free. */
uint64_t floor_anonymous_bytes(void);

/* Whether the loader counts what it maps and unmaps, asked as cheaply as it can be: how many images it
 * has ever mapped. */
uint64_t floor_probe(void);

/* Reads every entry in `BeehiveMods` of the image that was loaded last, in place: follows each pointer
 * and measures its text. The bytes of all texts. */
size_t floor_read_newest(void);

#endif
