.long 1, 7
.quad 0, 0, 0, end - header, end - header, 4096
.long 2, 6
.quad dynamic - header, dynamic - header, dynamic - header, array - dynamic, array - dynamic, 8
dynamic: .quad 5, names - header, 6, symbols - header, 10, end - names, 11, 24
.quad 25, array - header, 27, 8000, 7, relocations - header, 8, 24000, 9, 24
.set n, 0
.rept 4000
.set n, n + 1
.quad 1, n
.endr
.quad 0, 0
array: .zero 8000
symbols: .zero 24
.set n, 0
.rept 1000
.set n, n + 1
.long n
.byte 0x12, 0
.short 1
.quad n, 1
.endr
relocations: .set n, 0
.rept 1000
.quad array - header + 8 * n, (n + 1) << 32 | 1, 0
.set n, n + 1
.endr
names: .byte 0
.fill 60000, 1, 1
.byte 0
end:
