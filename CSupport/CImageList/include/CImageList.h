/* The images that the loader has mapped into this process, as plain arrays: one header for dl_iterate_phdr
 * and dyld. Private to BinaryImage and CImageEvents.
 *
 * Three steps, each one pass through the loader's list:
 *   image_list_probe   has anything come or gone?
 *   image_list_scan    which images are there, and where are their three sections?
 *   image_list_copy    the bytes of chosen images, copied while nothing can be unmapped
 *
 * A pass runs under the loader's lock, so it copies into memory that was allocated before and does
 * nothing else: no allocation, no dl* call, nothing of libelf or Swift, nothing of the user. The
 * headers and notes that a scan copies are read by libelf right after the pass, in the same call. */
#ifndef CIMAGE_LIST_H
#define CIMAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* BeehiveMods, BeehiveServices, BeehiveRecords: in this order in every array of three. */
#define IMAGE_SECTION_COUNT 3

/* The longest build-id that is kept; no linker writes a longer one unless told to. */
#define IMAGE_BUILD_ID_LIMIT 32

/* A range of this process; empty if start equals stop. */
typedef struct image_range {
  uintptr_t start;
  uintptr_t stop;
} image_range;

/* The place of an image. */
typedef struct image_place {
  uintptr_t bias;            /* what the loader added to every linked address */
  uintptr_t dynamic;         /* PT_DYNAMIC, 0 where there is none; the header on Mach-O */
  uintptr_t lowest, highest; /* the span of all segments, half open */
} image_place;

/* The result of reading an image's note with libelf. */
enum image_note {
  IMAGE_NOTE_NONE,          /* no note: look for the sections in the file */
  IMAGE_NOTE_FOUND,         /* the three ranges are valid */
  IMAGE_NOTE_SHORT,         /* invalid: the descriptor is too small, or it leaves the segment */
  IMAGE_NOTE_VERSION,       /* invalid: a version that this reader does not know */
  IMAGE_NOTE_DISAGREES,     /* invalid: two notes that say different things */
  IMAGE_NOTE_MOVED,         /* invalid: note or header was moved, and which cannot be told */
  IMAGE_NOTE_OUT_OF_IMAGE,  /* invalid: a range that no one segment of the file holds */
  IMAGE_NOTE_MISALIGNED,    /* invalid: a range that does not begin and end on 8 bytes */
  IMAGE_NOTE_UNREAD         /* libelf did not read the copied headers and notes: nothing is known */
};

enum image_role { IMAGE_ROLE_LIBRARY, IMAGE_ROLE_MAIN, IMAGE_ROLE_VDSO };

/* One image. The addresses together identify it as long as it stays mapped. */
typedef struct image_entry {
  uintptr_t bias;            /* what the loader added to every linked address */
  uintptr_t header;          /* the ELF or Mach-O header; 0 where no segment holds it */
  uintptr_t program_headers; /* the program headers or load commands */
  image_range sections[IMAGE_SECTION_COUNT]; /* valid with IMAGE_NOTE_FOUND */
  uint64_t layout;           /* from the ELF header: tells apart two builds that were mapped at one
                                address one after the other */
  uint32_t name;             /* where the loader's name starts in the list's names */
  uint8_t note;              /* enum image_note */
  uint8_t role;              /* enum image_role */
  bool runtime;              /* a note says that a runtime is in it */
  uint8_t build_id_size;
  uint8_t build_id[IMAGE_BUILD_ID_LIMIT];
} image_entry;

/* Every image in the loader's order, and the counters that were read in the same pass. Zero is the
 * empty list. */
typedef struct image_list {
  image_entry *entries;
  size_t count, capacity;
  char *names; /* NUL-terminated, one after the other */
  size_t names_size, names_capacity;
  uint64_t adds, subs; /* images ever mapped, images ever unmapped */
  bool counted;        /* whether the loader counts */
} image_list;

/* Reads how many images were ever mapped and unmapped. False if the loader does not count: then only
 * a scan can tell. Constant time. */
bool image_list_probe(uint64_t *adds, uint64_t *subs);

/* Brings `list` up to date.
 *
 * If nothing was unmapped since `list` was filled, appends the new images, and `previous` comes
 * back empty. Otherwise `previous` receives what `list` held and `list` is filled anew. Both
 * buffers are reused from call to call. False if memory ran out: `list` is then as it was. */
bool image_list_scan(image_list *list, image_list *previous);

/* Whether entry `index` of one list and entry `other_index` of another look like the same image. */
bool image_list_same(
    const image_list *list, size_t index, const image_list *other, size_t other_index);

/* Gives the memory back and leaves an empty list. */
void image_list_free(image_list *list);

/* A range to copy. */
typedef struct image_wanted {
  image_range range;
  bool holds_pointers; /* its words are pointers to text, which is copied with it */
} image_wanted;

/* One image to copy: its number in the list, and its own part of the wanted ranges. */
typedef struct image_request {
  size_t entry;
  size_t first_range, range_count;
} image_request;

/* The longest text that is copied from one pointer, without its NUL. */
#define IMAGE_TEXT_LIMIT ((size_t)65536)
/* The most text that is copied from one image: a wall against a section made to exhaust memory. */
#define IMAGE_TEXT_BUDGET ((size_t)16 << 20)

enum image_text_status {
  IMAGE_TEXT_COPIED,
  IMAGE_TEXT_OUTSIDE,      /* null, or leads outside the readable file contents of the image; also a
                              word that the loader has not written yet */
  IMAGE_TEXT_UNTERMINATED, /* no NUL within the limit or before the segment's contents end */
  IMAGE_TEXT_OVER_BUDGET   /* not copied: the image's texts exceed IMAGE_TEXT_BUDGET */
};

/* The text that one slot points to. */
typedef struct image_text {
  uintptr_t address; /* the slot's value */
  size_t offset;     /* in the copy's bytes */
  uint32_t size;     /* without the NUL */
  uint32_t status;   /* enum image_text_status */
} image_text;

/* A piece of the copy's bytes. */
typedef struct image_piece {
  size_t offset;
  size_t size;
} image_piece;

/* The copy of one wanted range. */
typedef struct image_copied {
  image_piece bytes;
  bool readable;                 /* false: no readable segment's file contents hold all of it */
  bool writable;                 /* it is in writable memory */
  size_t first_text, text_count; /* one per word of a range that holds pointers, in order */
} image_copied;

/* The copy of one requested image. */
typedef struct image_copy {
  bool present;   /* false: it has been unmapped since */
  bool relocated; /* image_is_relocated said so before anything of it was copied */
  image_place place;
  image_piece header;          /* the ELF header; the Mach-O header */
  image_piece program_headers; /* or the load commands */
  image_piece contents;        /* all of its ranges and their texts */
} image_copy;

/* The answer; the arrays belong to the caller. Zero is the empty answer. */
typedef struct image_copies {
  image_copy *images;   /* one per request, in their order */
  image_copied *ranges; /* one per wanted range, in their order */
  uint8_t *bytes;
  size_t bytes_size, bytes_capacity;
  image_text *texts;
  size_t texts_size, texts_capacity;
} image_copies;

/* Copies the wanted ranges of the requested images. An image with another name at the same place is
 * another image. False if memory ran out. `copies` must be empty before; free it in any case. */
bool image_list_copy(
    const image_list *list, const image_request *requests, size_t count, const image_wanted *wanted,
    size_t wanted_count, image_copies *copies);

/* A piece of the answer that outlives it: a copy, or, with `whole`, all bytes of the answer. Then the
 * piece is at its old offset, and the answer has no bytes any more. Free it with image_bytes_free. Null
 * if memory ran out. */
uint8_t *image_copies_piece(image_copies *copies, image_piece piece, bool whole);
void image_bytes_free(uint8_t *bytes);

/* Gives the memory back and leaves an empty answer. */
void image_copies_free(image_copies *copies);

/* The image that holds `address`, and the loader's name for it, which lives as long as the image.
 * Null if there is none. */
const char *image_place_find(const void *address, image_place *place);

/* A segment of a loaded image: its range, and the access that the image asks for. */
typedef struct image_segment {
  image_range range;
  bool readable, executable;
} image_segment;

/* Finds the segment that holds `address`, whichever image it belongs to. False if none does. Reports the
 * access that the file asked for, without later changes by the process. Takes the loader's lock if there
 * is no index: call it with no lock held. */
bool image_segment_find(uintptr_t address, image_segment *segment);

/* The folders that the loader searches for the needs of an image without a search path, in order and expanded, with a colon
 * after each but the last: those of the program's DT_RPATH, of LD_LIBRARY_PATH, and its own. NULL if it does not say.
 * Free the result. Waits for constructors that other threads run. */
char *image_search_path(void);

/* The level of x86-64 that this processor has, from 1 to 4, as glibc-hwcaps counts; 0 on other machines. */
int image_processor_level(void);

/* Whether an open file has capabilities, which who starts it gets. */
bool image_has_capabilities(int descriptor);

/* The bias of the image that this code is in. */
uintptr_t image_home_bias(void);

/* Whether the process has more rights than who started it: its environment must be ignored. */
bool image_process_is_privileged(void);

/* Whether the kernel refuses to run memory of the process that was writable: PR_SET_MDWE. */
bool image_process_keeps_code(void);

/* Whether an open file is in a proc file system, which shows each process another one. */
bool image_is_in_proc(int descriptor);

/* Keeps the image mapped for the rest of the process, whoever closes it. The loader finds it by `name`:
 * its own name for the image, or any path of the same file. False if it finds another image, or none.
 * Takes the loader's lock: call it with no lock held, or inside the image's own constructor. */
bool image_pin(const image_place *place, const char *name);

/* Whether the loader has relocated the image that holds `address`; false also if it does not say.
 * Bytes copied after a true answer have the values that the loader gives them. Takes no lock. */
bool image_is_relocated(uintptr_t address);

/* Whether the loader says what it has relocated. */
bool image_relocation_is_told(void);

/* Returns when the image at `place` is relocated or gone. If the loader says so, this takes none
 * of its locks for longer than a walk. So a constructor may wait for the caller. Otherwise it
 * returns when no other thread is inside `dlopen`. Call it with no lock held. */
void image_wait_for_relocation(const image_place *place);

#endif
