/* The structures of Mach-O that are read here, and the functions of dyld. */
#ifndef IMAGE_MACHO_H
#define IMAGE_MACHO_H

#if __has_include(<mach-o/dyld.h>)

#include <mach-o/dyld.h>
#include <mach-o/getsect.h>
#include <mach-o/loader.h>

#else

#include <stdint.h>

struct mach_header;
struct mach_header_64 {
  uint32_t magic;
  int32_t cputype, cpusubtype;
  uint32_t filetype, ncmds, sizeofcmds, flags, reserved;
};
struct load_command {
  uint32_t cmd, cmdsize;
};
struct segment_command_64 {
  uint32_t cmd, cmdsize;
  char segname[16];
  uint64_t vmaddr, vmsize, fileoff, filesize;
  int32_t maxprot, initprot;
  uint32_t nsects, flags;
};
struct uuid_command {
  uint32_t cmd, cmdsize;
  uint8_t uuid[16];
};
#define MH_EXECUTE 0x2
#define LC_SEGMENT_64 0x19
#define LC_UUID 0x1b

void _dyld_register_func_for_add_image(
    void (*function)(const struct mach_header *header, intptr_t slide));
void _dyld_register_func_for_remove_image(
    void (*function)(const struct mach_header *header, intptr_t slide));
uint8_t *getsectiondata(
    const struct mach_header_64 *header, const char *segment, const char *section,
    unsigned long *size);

#endif

/* VM_PROT_READ and VM_PROT_WRITE of <mach/vm_prot.h>, which only the SDK has. */
#define IMAGE_PROT_READ 1
#define IMAGE_PROT_WRITE 2
#define IMAGE_PROT_EXECUTE 4

#endif
