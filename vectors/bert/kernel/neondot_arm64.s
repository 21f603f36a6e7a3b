// Code printed by the program in folder asm. DO NOT EDIT.

//go:build arm64 && !purego

#include "textflag.h"

// func tile8NEONDot(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)
TEXT ·tile8NEONDot(SB), NOSPLIT, $0-104
	MOVD act_base+32(FP), R21
	MOVD actStride+56(FP), R19
	MOVD dst_base+0(FP), R14
	MOVD dstStride+24(FP), R15
	LSL $2, R15
	MOVD panel_base+64(FP), R20
	MOVD groups+88(FP), R22
	LSR $2, R22
	MOVD rows+96(FP), R0
	CMP $8, R0
	BEQ rows8
	CMP $7, R0
	BEQ rows7
	CMP $6, R0
	BEQ rows6
	CMP $5, R0
	BEQ rows5
	CMP $4, R0
	BEQ rows4
	CMP $3, R0
	BEQ rows3
	CMP $2, R0
	BEQ rows2
rows1:
	MOVD $4, R13
columns1:
	MOVD R21, R2
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
step2:
	FMOVQ.P 16(R2), F16
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	SUBS $1, R12
	BNE step2
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns1
	RET
rows2:
	MOVD $4, R13
columns3:
	MOVD R21, R2
	ADD R19, R2, R3
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
step4:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4f91e302 // sdot v2.4s, v24.16b, v17.4b[0]
	WORD $0x4f91e323 // sdot v3.4s, v25.16b, v17.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4fb1e342 // sdot v2.4s, v26.16b, v17.4b[1]
	WORD $0x4fb1e363 // sdot v3.4s, v27.16b, v17.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4f91eb82 // sdot v2.4s, v28.16b, v17.4b[2]
	WORD $0x4f91eba3 // sdot v3.4s, v29.16b, v17.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	WORD $0x4fb1ebc2 // sdot v2.4s, v30.16b, v17.4b[3]
	WORD $0x4fb1ebe3 // sdot v3.4s, v31.16b, v17.4b[3]
	SUBS $1, R12
	BNE step4
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD R15, R2
	FSTPQ (F2, F3), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns3
	RET
rows3:
	MOVD $4, R13
columns5:
	MOVD R21, R2
	ADD R19, R2, R3
	ADD R19, R3, R4
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
step6:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4f91e302 // sdot v2.4s, v24.16b, v17.4b[0]
	WORD $0x4f91e323 // sdot v3.4s, v25.16b, v17.4b[0]
	WORD $0x4f92e304 // sdot v4.4s, v24.16b, v18.4b[0]
	WORD $0x4f92e325 // sdot v5.4s, v25.16b, v18.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4fb1e342 // sdot v2.4s, v26.16b, v17.4b[1]
	WORD $0x4fb1e363 // sdot v3.4s, v27.16b, v17.4b[1]
	WORD $0x4fb2e344 // sdot v4.4s, v26.16b, v18.4b[1]
	WORD $0x4fb2e365 // sdot v5.4s, v27.16b, v18.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4f91eb82 // sdot v2.4s, v28.16b, v17.4b[2]
	WORD $0x4f91eba3 // sdot v3.4s, v29.16b, v17.4b[2]
	WORD $0x4f92eb84 // sdot v4.4s, v28.16b, v18.4b[2]
	WORD $0x4f92eba5 // sdot v5.4s, v29.16b, v18.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	WORD $0x4fb1ebc2 // sdot v2.4s, v30.16b, v17.4b[3]
	WORD $0x4fb1ebe3 // sdot v3.4s, v31.16b, v17.4b[3]
	WORD $0x4fb2ebc4 // sdot v4.4s, v30.16b, v18.4b[3]
	WORD $0x4fb2ebe5 // sdot v5.4s, v31.16b, v18.4b[3]
	SUBS $1, R12
	BNE step6
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD R15, R2
	FSTPQ (F2, F3), (R2)
	ADD R15, R2
	FSTPQ (F4, F5), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns5
	RET
rows4:
	MOVD $4, R13
columns7:
	MOVD R21, R2
	ADD R19, R2, R3
	ADD R19, R3, R4
	ADD R19, R4, R5
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
step8:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FMOVQ.P 16(R5), F19
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4f91e302 // sdot v2.4s, v24.16b, v17.4b[0]
	WORD $0x4f91e323 // sdot v3.4s, v25.16b, v17.4b[0]
	WORD $0x4f92e304 // sdot v4.4s, v24.16b, v18.4b[0]
	WORD $0x4f92e325 // sdot v5.4s, v25.16b, v18.4b[0]
	WORD $0x4f93e306 // sdot v6.4s, v24.16b, v19.4b[0]
	WORD $0x4f93e327 // sdot v7.4s, v25.16b, v19.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4fb1e342 // sdot v2.4s, v26.16b, v17.4b[1]
	WORD $0x4fb1e363 // sdot v3.4s, v27.16b, v17.4b[1]
	WORD $0x4fb2e344 // sdot v4.4s, v26.16b, v18.4b[1]
	WORD $0x4fb2e365 // sdot v5.4s, v27.16b, v18.4b[1]
	WORD $0x4fb3e346 // sdot v6.4s, v26.16b, v19.4b[1]
	WORD $0x4fb3e367 // sdot v7.4s, v27.16b, v19.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4f91eb82 // sdot v2.4s, v28.16b, v17.4b[2]
	WORD $0x4f91eba3 // sdot v3.4s, v29.16b, v17.4b[2]
	WORD $0x4f92eb84 // sdot v4.4s, v28.16b, v18.4b[2]
	WORD $0x4f92eba5 // sdot v5.4s, v29.16b, v18.4b[2]
	WORD $0x4f93eb86 // sdot v6.4s, v28.16b, v19.4b[2]
	WORD $0x4f93eba7 // sdot v7.4s, v29.16b, v19.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	WORD $0x4fb1ebc2 // sdot v2.4s, v30.16b, v17.4b[3]
	WORD $0x4fb1ebe3 // sdot v3.4s, v31.16b, v17.4b[3]
	WORD $0x4fb2ebc4 // sdot v4.4s, v30.16b, v18.4b[3]
	WORD $0x4fb2ebe5 // sdot v5.4s, v31.16b, v18.4b[3]
	WORD $0x4fb3ebc6 // sdot v6.4s, v30.16b, v19.4b[3]
	WORD $0x4fb3ebe7 // sdot v7.4s, v31.16b, v19.4b[3]
	SUBS $1, R12
	BNE step8
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD R15, R2
	FSTPQ (F2, F3), (R2)
	ADD R15, R2
	FSTPQ (F4, F5), (R2)
	ADD R15, R2
	FSTPQ (F6, F7), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns7
	RET
rows5:
	MOVD $4, R13
columns9:
	MOVD R21, R2
	ADD R19, R2, R3
	ADD R19, R3, R4
	ADD R19, R4, R5
	ADD R19, R5, R6
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	WORD $0x6e281d08 // eor v8.16b, v8.16b, v8.16b
	WORD $0x6e291d29 // eor v9.16b, v9.16b, v9.16b
step10:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FMOVQ.P 16(R5), F19
	FMOVQ.P 16(R6), F20
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4f91e302 // sdot v2.4s, v24.16b, v17.4b[0]
	WORD $0x4f91e323 // sdot v3.4s, v25.16b, v17.4b[0]
	WORD $0x4f92e304 // sdot v4.4s, v24.16b, v18.4b[0]
	WORD $0x4f92e325 // sdot v5.4s, v25.16b, v18.4b[0]
	WORD $0x4f93e306 // sdot v6.4s, v24.16b, v19.4b[0]
	WORD $0x4f93e327 // sdot v7.4s, v25.16b, v19.4b[0]
	WORD $0x4f94e308 // sdot v8.4s, v24.16b, v20.4b[0]
	WORD $0x4f94e329 // sdot v9.4s, v25.16b, v20.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4fb1e342 // sdot v2.4s, v26.16b, v17.4b[1]
	WORD $0x4fb1e363 // sdot v3.4s, v27.16b, v17.4b[1]
	WORD $0x4fb2e344 // sdot v4.4s, v26.16b, v18.4b[1]
	WORD $0x4fb2e365 // sdot v5.4s, v27.16b, v18.4b[1]
	WORD $0x4fb3e346 // sdot v6.4s, v26.16b, v19.4b[1]
	WORD $0x4fb3e367 // sdot v7.4s, v27.16b, v19.4b[1]
	WORD $0x4fb4e348 // sdot v8.4s, v26.16b, v20.4b[1]
	WORD $0x4fb4e369 // sdot v9.4s, v27.16b, v20.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4f91eb82 // sdot v2.4s, v28.16b, v17.4b[2]
	WORD $0x4f91eba3 // sdot v3.4s, v29.16b, v17.4b[2]
	WORD $0x4f92eb84 // sdot v4.4s, v28.16b, v18.4b[2]
	WORD $0x4f92eba5 // sdot v5.4s, v29.16b, v18.4b[2]
	WORD $0x4f93eb86 // sdot v6.4s, v28.16b, v19.4b[2]
	WORD $0x4f93eba7 // sdot v7.4s, v29.16b, v19.4b[2]
	WORD $0x4f94eb88 // sdot v8.4s, v28.16b, v20.4b[2]
	WORD $0x4f94eba9 // sdot v9.4s, v29.16b, v20.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	WORD $0x4fb1ebc2 // sdot v2.4s, v30.16b, v17.4b[3]
	WORD $0x4fb1ebe3 // sdot v3.4s, v31.16b, v17.4b[3]
	WORD $0x4fb2ebc4 // sdot v4.4s, v30.16b, v18.4b[3]
	WORD $0x4fb2ebe5 // sdot v5.4s, v31.16b, v18.4b[3]
	WORD $0x4fb3ebc6 // sdot v6.4s, v30.16b, v19.4b[3]
	WORD $0x4fb3ebe7 // sdot v7.4s, v31.16b, v19.4b[3]
	WORD $0x4fb4ebc8 // sdot v8.4s, v30.16b, v20.4b[3]
	WORD $0x4fb4ebe9 // sdot v9.4s, v31.16b, v20.4b[3]
	SUBS $1, R12
	BNE step10
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD R15, R2
	FSTPQ (F2, F3), (R2)
	ADD R15, R2
	FSTPQ (F4, F5), (R2)
	ADD R15, R2
	FSTPQ (F6, F7), (R2)
	ADD R15, R2
	FSTPQ (F8, F9), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns9
	RET
rows6:
	MOVD $4, R13
columns11:
	MOVD R21, R2
	ADD R19, R2, R3
	ADD R19, R3, R4
	ADD R19, R4, R5
	ADD R19, R5, R6
	ADD R19, R6, R7
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	WORD $0x6e281d08 // eor v8.16b, v8.16b, v8.16b
	WORD $0x6e291d29 // eor v9.16b, v9.16b, v9.16b
	WORD $0x6e2a1d4a // eor v10.16b, v10.16b, v10.16b
	WORD $0x6e2b1d6b // eor v11.16b, v11.16b, v11.16b
step12:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FMOVQ.P 16(R5), F19
	FMOVQ.P 16(R6), F20
	FMOVQ.P 16(R7), F21
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4f91e302 // sdot v2.4s, v24.16b, v17.4b[0]
	WORD $0x4f91e323 // sdot v3.4s, v25.16b, v17.4b[0]
	WORD $0x4f92e304 // sdot v4.4s, v24.16b, v18.4b[0]
	WORD $0x4f92e325 // sdot v5.4s, v25.16b, v18.4b[0]
	WORD $0x4f93e306 // sdot v6.4s, v24.16b, v19.4b[0]
	WORD $0x4f93e327 // sdot v7.4s, v25.16b, v19.4b[0]
	WORD $0x4f94e308 // sdot v8.4s, v24.16b, v20.4b[0]
	WORD $0x4f94e329 // sdot v9.4s, v25.16b, v20.4b[0]
	WORD $0x4f95e30a // sdot v10.4s, v24.16b, v21.4b[0]
	WORD $0x4f95e32b // sdot v11.4s, v25.16b, v21.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4fb1e342 // sdot v2.4s, v26.16b, v17.4b[1]
	WORD $0x4fb1e363 // sdot v3.4s, v27.16b, v17.4b[1]
	WORD $0x4fb2e344 // sdot v4.4s, v26.16b, v18.4b[1]
	WORD $0x4fb2e365 // sdot v5.4s, v27.16b, v18.4b[1]
	WORD $0x4fb3e346 // sdot v6.4s, v26.16b, v19.4b[1]
	WORD $0x4fb3e367 // sdot v7.4s, v27.16b, v19.4b[1]
	WORD $0x4fb4e348 // sdot v8.4s, v26.16b, v20.4b[1]
	WORD $0x4fb4e369 // sdot v9.4s, v27.16b, v20.4b[1]
	WORD $0x4fb5e34a // sdot v10.4s, v26.16b, v21.4b[1]
	WORD $0x4fb5e36b // sdot v11.4s, v27.16b, v21.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4f91eb82 // sdot v2.4s, v28.16b, v17.4b[2]
	WORD $0x4f91eba3 // sdot v3.4s, v29.16b, v17.4b[2]
	WORD $0x4f92eb84 // sdot v4.4s, v28.16b, v18.4b[2]
	WORD $0x4f92eba5 // sdot v5.4s, v29.16b, v18.4b[2]
	WORD $0x4f93eb86 // sdot v6.4s, v28.16b, v19.4b[2]
	WORD $0x4f93eba7 // sdot v7.4s, v29.16b, v19.4b[2]
	WORD $0x4f94eb88 // sdot v8.4s, v28.16b, v20.4b[2]
	WORD $0x4f94eba9 // sdot v9.4s, v29.16b, v20.4b[2]
	WORD $0x4f95eb8a // sdot v10.4s, v28.16b, v21.4b[2]
	WORD $0x4f95ebab // sdot v11.4s, v29.16b, v21.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	WORD $0x4fb1ebc2 // sdot v2.4s, v30.16b, v17.4b[3]
	WORD $0x4fb1ebe3 // sdot v3.4s, v31.16b, v17.4b[3]
	WORD $0x4fb2ebc4 // sdot v4.4s, v30.16b, v18.4b[3]
	WORD $0x4fb2ebe5 // sdot v5.4s, v31.16b, v18.4b[3]
	WORD $0x4fb3ebc6 // sdot v6.4s, v30.16b, v19.4b[3]
	WORD $0x4fb3ebe7 // sdot v7.4s, v31.16b, v19.4b[3]
	WORD $0x4fb4ebc8 // sdot v8.4s, v30.16b, v20.4b[3]
	WORD $0x4fb4ebe9 // sdot v9.4s, v31.16b, v20.4b[3]
	WORD $0x4fb5ebca // sdot v10.4s, v30.16b, v21.4b[3]
	WORD $0x4fb5ebeb // sdot v11.4s, v31.16b, v21.4b[3]
	SUBS $1, R12
	BNE step12
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD R15, R2
	FSTPQ (F2, F3), (R2)
	ADD R15, R2
	FSTPQ (F4, F5), (R2)
	ADD R15, R2
	FSTPQ (F6, F7), (R2)
	ADD R15, R2
	FSTPQ (F8, F9), (R2)
	ADD R15, R2
	FSTPQ (F10, F11), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns11
	RET
rows7:
	MOVD $4, R13
columns13:
	MOVD R21, R2
	ADD R19, R2, R3
	ADD R19, R3, R4
	ADD R19, R4, R5
	ADD R19, R5, R6
	ADD R19, R6, R7
	ADD R19, R7, R8
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	WORD $0x6e281d08 // eor v8.16b, v8.16b, v8.16b
	WORD $0x6e291d29 // eor v9.16b, v9.16b, v9.16b
	WORD $0x6e2a1d4a // eor v10.16b, v10.16b, v10.16b
	WORD $0x6e2b1d6b // eor v11.16b, v11.16b, v11.16b
	WORD $0x6e2c1d8c // eor v12.16b, v12.16b, v12.16b
	WORD $0x6e2d1dad // eor v13.16b, v13.16b, v13.16b
step14:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FMOVQ.P 16(R5), F19
	FMOVQ.P 16(R6), F20
	FMOVQ.P 16(R7), F21
	FMOVQ.P 16(R8), F22
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4f91e302 // sdot v2.4s, v24.16b, v17.4b[0]
	WORD $0x4f91e323 // sdot v3.4s, v25.16b, v17.4b[0]
	WORD $0x4f92e304 // sdot v4.4s, v24.16b, v18.4b[0]
	WORD $0x4f92e325 // sdot v5.4s, v25.16b, v18.4b[0]
	WORD $0x4f93e306 // sdot v6.4s, v24.16b, v19.4b[0]
	WORD $0x4f93e327 // sdot v7.4s, v25.16b, v19.4b[0]
	WORD $0x4f94e308 // sdot v8.4s, v24.16b, v20.4b[0]
	WORD $0x4f94e329 // sdot v9.4s, v25.16b, v20.4b[0]
	WORD $0x4f95e30a // sdot v10.4s, v24.16b, v21.4b[0]
	WORD $0x4f95e32b // sdot v11.4s, v25.16b, v21.4b[0]
	WORD $0x4f96e30c // sdot v12.4s, v24.16b, v22.4b[0]
	WORD $0x4f96e32d // sdot v13.4s, v25.16b, v22.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4fb1e342 // sdot v2.4s, v26.16b, v17.4b[1]
	WORD $0x4fb1e363 // sdot v3.4s, v27.16b, v17.4b[1]
	WORD $0x4fb2e344 // sdot v4.4s, v26.16b, v18.4b[1]
	WORD $0x4fb2e365 // sdot v5.4s, v27.16b, v18.4b[1]
	WORD $0x4fb3e346 // sdot v6.4s, v26.16b, v19.4b[1]
	WORD $0x4fb3e367 // sdot v7.4s, v27.16b, v19.4b[1]
	WORD $0x4fb4e348 // sdot v8.4s, v26.16b, v20.4b[1]
	WORD $0x4fb4e369 // sdot v9.4s, v27.16b, v20.4b[1]
	WORD $0x4fb5e34a // sdot v10.4s, v26.16b, v21.4b[1]
	WORD $0x4fb5e36b // sdot v11.4s, v27.16b, v21.4b[1]
	WORD $0x4fb6e34c // sdot v12.4s, v26.16b, v22.4b[1]
	WORD $0x4fb6e36d // sdot v13.4s, v27.16b, v22.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4f91eb82 // sdot v2.4s, v28.16b, v17.4b[2]
	WORD $0x4f91eba3 // sdot v3.4s, v29.16b, v17.4b[2]
	WORD $0x4f92eb84 // sdot v4.4s, v28.16b, v18.4b[2]
	WORD $0x4f92eba5 // sdot v5.4s, v29.16b, v18.4b[2]
	WORD $0x4f93eb86 // sdot v6.4s, v28.16b, v19.4b[2]
	WORD $0x4f93eba7 // sdot v7.4s, v29.16b, v19.4b[2]
	WORD $0x4f94eb88 // sdot v8.4s, v28.16b, v20.4b[2]
	WORD $0x4f94eba9 // sdot v9.4s, v29.16b, v20.4b[2]
	WORD $0x4f95eb8a // sdot v10.4s, v28.16b, v21.4b[2]
	WORD $0x4f95ebab // sdot v11.4s, v29.16b, v21.4b[2]
	WORD $0x4f96eb8c // sdot v12.4s, v28.16b, v22.4b[2]
	WORD $0x4f96ebad // sdot v13.4s, v29.16b, v22.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	WORD $0x4fb1ebc2 // sdot v2.4s, v30.16b, v17.4b[3]
	WORD $0x4fb1ebe3 // sdot v3.4s, v31.16b, v17.4b[3]
	WORD $0x4fb2ebc4 // sdot v4.4s, v30.16b, v18.4b[3]
	WORD $0x4fb2ebe5 // sdot v5.4s, v31.16b, v18.4b[3]
	WORD $0x4fb3ebc6 // sdot v6.4s, v30.16b, v19.4b[3]
	WORD $0x4fb3ebe7 // sdot v7.4s, v31.16b, v19.4b[3]
	WORD $0x4fb4ebc8 // sdot v8.4s, v30.16b, v20.4b[3]
	WORD $0x4fb4ebe9 // sdot v9.4s, v31.16b, v20.4b[3]
	WORD $0x4fb5ebca // sdot v10.4s, v30.16b, v21.4b[3]
	WORD $0x4fb5ebeb // sdot v11.4s, v31.16b, v21.4b[3]
	WORD $0x4fb6ebcc // sdot v12.4s, v30.16b, v22.4b[3]
	WORD $0x4fb6ebed // sdot v13.4s, v31.16b, v22.4b[3]
	SUBS $1, R12
	BNE step14
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD R15, R2
	FSTPQ (F2, F3), (R2)
	ADD R15, R2
	FSTPQ (F4, F5), (R2)
	ADD R15, R2
	FSTPQ (F6, F7), (R2)
	ADD R15, R2
	FSTPQ (F8, F9), (R2)
	ADD R15, R2
	FSTPQ (F10, F11), (R2)
	ADD R15, R2
	FSTPQ (F12, F13), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns13
	RET
rows8:
	MOVD $4, R13
columns15:
	MOVD R21, R2
	ADD R19, R2, R3
	ADD R19, R3, R4
	ADD R19, R4, R5
	ADD R19, R5, R6
	ADD R19, R6, R7
	ADD R19, R7, R8
	ADD R19, R8, R9
	MOVD R20, R10
	MOVD R22, R12
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	WORD $0x6e281d08 // eor v8.16b, v8.16b, v8.16b
	WORD $0x6e291d29 // eor v9.16b, v9.16b, v9.16b
	WORD $0x6e2a1d4a // eor v10.16b, v10.16b, v10.16b
	WORD $0x6e2b1d6b // eor v11.16b, v11.16b, v11.16b
	WORD $0x6e2c1d8c // eor v12.16b, v12.16b, v12.16b
	WORD $0x6e2d1dad // eor v13.16b, v13.16b, v13.16b
	WORD $0x6e2e1dce // eor v14.16b, v14.16b, v14.16b
	WORD $0x6e2f1def // eor v15.16b, v15.16b, v15.16b
step16:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FMOVQ.P 16(R5), F19
	FMOVQ.P 16(R6), F20
	FMOVQ.P 16(R7), F21
	FMOVQ.P 16(R8), F22
	FMOVQ.P 16(R9), F23
	FLDPQ 0(R10), (F24, F25)
	FLDPQ 128(R10), (F26, F27)
	FLDPQ 256(R10), (F28, F29)
	FLDPQ 384(R10), (F30, F31)
	ADD $512, R10
	WORD $0x4f90e300 // sdot v0.4s, v24.16b, v16.4b[0]
	WORD $0x4f90e321 // sdot v1.4s, v25.16b, v16.4b[0]
	WORD $0x4f91e302 // sdot v2.4s, v24.16b, v17.4b[0]
	WORD $0x4f91e323 // sdot v3.4s, v25.16b, v17.4b[0]
	WORD $0x4f92e304 // sdot v4.4s, v24.16b, v18.4b[0]
	WORD $0x4f92e325 // sdot v5.4s, v25.16b, v18.4b[0]
	WORD $0x4f93e306 // sdot v6.4s, v24.16b, v19.4b[0]
	WORD $0x4f93e327 // sdot v7.4s, v25.16b, v19.4b[0]
	WORD $0x4f94e308 // sdot v8.4s, v24.16b, v20.4b[0]
	WORD $0x4f94e329 // sdot v9.4s, v25.16b, v20.4b[0]
	WORD $0x4f95e30a // sdot v10.4s, v24.16b, v21.4b[0]
	WORD $0x4f95e32b // sdot v11.4s, v25.16b, v21.4b[0]
	WORD $0x4f96e30c // sdot v12.4s, v24.16b, v22.4b[0]
	WORD $0x4f96e32d // sdot v13.4s, v25.16b, v22.4b[0]
	WORD $0x4f97e30e // sdot v14.4s, v24.16b, v23.4b[0]
	WORD $0x4f97e32f // sdot v15.4s, v25.16b, v23.4b[0]
	WORD $0x4fb0e340 // sdot v0.4s, v26.16b, v16.4b[1]
	WORD $0x4fb0e361 // sdot v1.4s, v27.16b, v16.4b[1]
	WORD $0x4fb1e342 // sdot v2.4s, v26.16b, v17.4b[1]
	WORD $0x4fb1e363 // sdot v3.4s, v27.16b, v17.4b[1]
	WORD $0x4fb2e344 // sdot v4.4s, v26.16b, v18.4b[1]
	WORD $0x4fb2e365 // sdot v5.4s, v27.16b, v18.4b[1]
	WORD $0x4fb3e346 // sdot v6.4s, v26.16b, v19.4b[1]
	WORD $0x4fb3e367 // sdot v7.4s, v27.16b, v19.4b[1]
	WORD $0x4fb4e348 // sdot v8.4s, v26.16b, v20.4b[1]
	WORD $0x4fb4e369 // sdot v9.4s, v27.16b, v20.4b[1]
	WORD $0x4fb5e34a // sdot v10.4s, v26.16b, v21.4b[1]
	WORD $0x4fb5e36b // sdot v11.4s, v27.16b, v21.4b[1]
	WORD $0x4fb6e34c // sdot v12.4s, v26.16b, v22.4b[1]
	WORD $0x4fb6e36d // sdot v13.4s, v27.16b, v22.4b[1]
	WORD $0x4fb7e34e // sdot v14.4s, v26.16b, v23.4b[1]
	WORD $0x4fb7e36f // sdot v15.4s, v27.16b, v23.4b[1]
	WORD $0x4f90eb80 // sdot v0.4s, v28.16b, v16.4b[2]
	WORD $0x4f90eba1 // sdot v1.4s, v29.16b, v16.4b[2]
	WORD $0x4f91eb82 // sdot v2.4s, v28.16b, v17.4b[2]
	WORD $0x4f91eba3 // sdot v3.4s, v29.16b, v17.4b[2]
	WORD $0x4f92eb84 // sdot v4.4s, v28.16b, v18.4b[2]
	WORD $0x4f92eba5 // sdot v5.4s, v29.16b, v18.4b[2]
	WORD $0x4f93eb86 // sdot v6.4s, v28.16b, v19.4b[2]
	WORD $0x4f93eba7 // sdot v7.4s, v29.16b, v19.4b[2]
	WORD $0x4f94eb88 // sdot v8.4s, v28.16b, v20.4b[2]
	WORD $0x4f94eba9 // sdot v9.4s, v29.16b, v20.4b[2]
	WORD $0x4f95eb8a // sdot v10.4s, v28.16b, v21.4b[2]
	WORD $0x4f95ebab // sdot v11.4s, v29.16b, v21.4b[2]
	WORD $0x4f96eb8c // sdot v12.4s, v28.16b, v22.4b[2]
	WORD $0x4f96ebad // sdot v13.4s, v29.16b, v22.4b[2]
	WORD $0x4f97eb8e // sdot v14.4s, v28.16b, v23.4b[2]
	WORD $0x4f97ebaf // sdot v15.4s, v29.16b, v23.4b[2]
	WORD $0x4fb0ebc0 // sdot v0.4s, v30.16b, v16.4b[3]
	WORD $0x4fb0ebe1 // sdot v1.4s, v31.16b, v16.4b[3]
	WORD $0x4fb1ebc2 // sdot v2.4s, v30.16b, v17.4b[3]
	WORD $0x4fb1ebe3 // sdot v3.4s, v31.16b, v17.4b[3]
	WORD $0x4fb2ebc4 // sdot v4.4s, v30.16b, v18.4b[3]
	WORD $0x4fb2ebe5 // sdot v5.4s, v31.16b, v18.4b[3]
	WORD $0x4fb3ebc6 // sdot v6.4s, v30.16b, v19.4b[3]
	WORD $0x4fb3ebe7 // sdot v7.4s, v31.16b, v19.4b[3]
	WORD $0x4fb4ebc8 // sdot v8.4s, v30.16b, v20.4b[3]
	WORD $0x4fb4ebe9 // sdot v9.4s, v31.16b, v20.4b[3]
	WORD $0x4fb5ebca // sdot v10.4s, v30.16b, v21.4b[3]
	WORD $0x4fb5ebeb // sdot v11.4s, v31.16b, v21.4b[3]
	WORD $0x4fb6ebcc // sdot v12.4s, v30.16b, v22.4b[3]
	WORD $0x4fb6ebed // sdot v13.4s, v31.16b, v22.4b[3]
	WORD $0x4fb7ebce // sdot v14.4s, v30.16b, v23.4b[3]
	WORD $0x4fb7ebef // sdot v15.4s, v31.16b, v23.4b[3]
	SUBS $1, R12
	BNE step16
	MOVD R14, R2
	FSTPQ (F0, F1), (R2)
	ADD R15, R2
	FSTPQ (F2, F3), (R2)
	ADD R15, R2
	FSTPQ (F4, F5), (R2)
	ADD R15, R2
	FSTPQ (F6, F7), (R2)
	ADD R15, R2
	FSTPQ (F8, F9), (R2)
	ADD R15, R2
	FSTPQ (F10, F11), (R2)
	ADD R15, R2
	FSTPQ (F12, F13), (R2)
	ADD R15, R2
	FSTPQ (F14, F15), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns15
	RET
