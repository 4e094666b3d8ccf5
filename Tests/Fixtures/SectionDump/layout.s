.section BeehiveMods, "aw"
.quad name, 0, absent
.section BeehiveServices, "aw"
.quad pair
.section BeehiveRecords, "aw"
.long 64
.short 1, 1
.long 0, 32
.quad 0, 0
.asciz "audio"
.asciz "&table"
.asciz "priority=-3"
.balign 8
.long 48
.short 1, 0x8001
.long 0, 32
.quad factory, 0
.asciz "third party"
.balign 8
.section .rodata.names, "a"
name: .asciz "Shop.Module"
pair: .asciz "{\"A\":\"B, \\\"C\\\"\"}"
