# Two pointers and two records; a test appends a relocation of one more word.
.macro entry name
.long 40
.short 1, 1
.long 0, 32
.quad 0, 0
.asciz "\name"
.balign 8
.endm
.weak elsewhere
.section .data.text, "aw"
text: .asciz "Moved"
.balign 8
.quad 1
.section BeehiveMods, "aw"
.balign 8
slots: .quad text, other
.section BeehiveRecords, "aw"
.balign 8
record: entry audio
entry net
.section .rodata.text, "a"
other: .asciz "Kept"
.section .note.GNU-stack, "", %progbits
