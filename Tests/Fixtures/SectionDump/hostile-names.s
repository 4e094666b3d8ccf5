# An entry of each sort that is called NAME, and a section and a symbol too; tests replace the capitals.
.macro entry kind, texts:vararg
8: .long 9f - 8b
.short 1, \kind
.long 0, 32
.quad NAME, 0
.asciz \texts
.balign 8
9:
.endm
.section BeehiveMods, "aw"
.quad text, 0, NAME
.section BeehiveServices, "aw"
.quad pair
.section BeehiveRecords, "aw"
.balign 8
entry 1, "NAME", "IMPLEMENTATION", "requires=NAME", "NAME=NAME"
entry 2, "NAME", "IMPLEMENTATION", "name=NAME", "scope=NAME"
entry 3, "NAME", "", "action=NAME"
entry 4, "/NAME", "", "match=NAME"
entry 0x8001, "NAME", "NAME"
.section SECTION, "aw"
.quad text
.section .rodata.texts, "a"
text: .asciz "NAME"
pair: .asciz "{\"NAME\":\"NAME\"}"
.text
.globl NAME
NAME: ret
