// Code printed by the program in folder asm. DO NOT EDIT.

//go:build arm64 && !purego

#include "textflag.h"

// func tile8NEONI8MM(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)
TEXT ·tile8NEONI8MM(SB), NOSPLIT, $0-104
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
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
step2:
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	WORD $0x4ed03a12 // zip1 v18.2d, v16.2d, v16.2d
	WORD $0x4ed07a13 // zip2 v19.2d, v16.2d, v16.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step2
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
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
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step4
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec17810 // zip2 v16.2d, v0.2d, v1.2d
	WORD $0x4ec37851 // zip2 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
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
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
step6:
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	FMOVQ.P 16(R4), F16
	WORD $0x4ed03a12 // zip1 v18.2d, v16.2d, v16.2d
	WORD $0x4ed07a13 // zip2 v19.2d, v16.2d, v16.2d
	WORD $0x4e98a644 // smmla v4.4s, v18.16b, v24.16b
	WORD $0x4e99a645 // smmla v5.4s, v18.16b, v25.16b
	WORD $0x4e9aa646 // smmla v6.4s, v18.16b, v26.16b
	WORD $0x4e9ba647 // smmla v7.4s, v18.16b, v27.16b
	WORD $0x4e9ca664 // smmla v4.4s, v19.16b, v28.16b
	WORD $0x4e9da665 // smmla v5.4s, v19.16b, v29.16b
	WORD $0x4e9ea666 // smmla v6.4s, v19.16b, v30.16b
	WORD $0x4e9fa667 // smmla v7.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step6
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec17810 // zip2 v16.2d, v0.2d, v1.2d
	WORD $0x4ec37851 // zip2 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec53890 // zip1 v16.2d, v4.2d, v5.2d
	WORD $0x4ec738d1 // zip1 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
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
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	FMOVQ.P 16(R4), F16
	FMOVQ.P 16(R5), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a644 // smmla v4.4s, v18.16b, v24.16b
	WORD $0x4e99a645 // smmla v5.4s, v18.16b, v25.16b
	WORD $0x4e9aa646 // smmla v6.4s, v18.16b, v26.16b
	WORD $0x4e9ba647 // smmla v7.4s, v18.16b, v27.16b
	WORD $0x4e9ca664 // smmla v4.4s, v19.16b, v28.16b
	WORD $0x4e9da665 // smmla v5.4s, v19.16b, v29.16b
	WORD $0x4e9ea666 // smmla v6.4s, v19.16b, v30.16b
	WORD $0x4e9fa667 // smmla v7.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step8
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec17810 // zip2 v16.2d, v0.2d, v1.2d
	WORD $0x4ec37851 // zip2 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec53890 // zip1 v16.2d, v4.2d, v5.2d
	WORD $0x4ec738d1 // zip1 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec57890 // zip2 v16.2d, v4.2d, v5.2d
	WORD $0x4ec778d1 // zip2 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
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
	WORD $0x6e2a1d4a // eor v10.16b, v10.16b, v10.16b
	WORD $0x6e2b1d6b // eor v11.16b, v11.16b, v11.16b
step10:
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	FMOVQ.P 16(R4), F16
	FMOVQ.P 16(R5), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a644 // smmla v4.4s, v18.16b, v24.16b
	WORD $0x4e99a645 // smmla v5.4s, v18.16b, v25.16b
	WORD $0x4e9aa646 // smmla v6.4s, v18.16b, v26.16b
	WORD $0x4e9ba647 // smmla v7.4s, v18.16b, v27.16b
	WORD $0x4e9ca664 // smmla v4.4s, v19.16b, v28.16b
	WORD $0x4e9da665 // smmla v5.4s, v19.16b, v29.16b
	WORD $0x4e9ea666 // smmla v6.4s, v19.16b, v30.16b
	WORD $0x4e9fa667 // smmla v7.4s, v19.16b, v31.16b
	FMOVQ.P 16(R6), F16
	WORD $0x4ed03a12 // zip1 v18.2d, v16.2d, v16.2d
	WORD $0x4ed07a13 // zip2 v19.2d, v16.2d, v16.2d
	WORD $0x4e98a648 // smmla v8.4s, v18.16b, v24.16b
	WORD $0x4e99a649 // smmla v9.4s, v18.16b, v25.16b
	WORD $0x4e9aa64a // smmla v10.4s, v18.16b, v26.16b
	WORD $0x4e9ba64b // smmla v11.4s, v18.16b, v27.16b
	WORD $0x4e9ca668 // smmla v8.4s, v19.16b, v28.16b
	WORD $0x4e9da669 // smmla v9.4s, v19.16b, v29.16b
	WORD $0x4e9ea66a // smmla v10.4s, v19.16b, v30.16b
	WORD $0x4e9fa66b // smmla v11.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step10
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec17810 // zip2 v16.2d, v0.2d, v1.2d
	WORD $0x4ec37851 // zip2 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec53890 // zip1 v16.2d, v4.2d, v5.2d
	WORD $0x4ec738d1 // zip1 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec57890 // zip2 v16.2d, v4.2d, v5.2d
	WORD $0x4ec778d1 // zip2 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec93910 // zip1 v16.2d, v8.2d, v9.2d
	WORD $0x4ecb3951 // zip1 v17.2d, v10.2d, v11.2d
	FSTPQ (F16, F17), (R2)
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
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	FMOVQ.P 16(R4), F16
	FMOVQ.P 16(R5), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a644 // smmla v4.4s, v18.16b, v24.16b
	WORD $0x4e99a645 // smmla v5.4s, v18.16b, v25.16b
	WORD $0x4e9aa646 // smmla v6.4s, v18.16b, v26.16b
	WORD $0x4e9ba647 // smmla v7.4s, v18.16b, v27.16b
	WORD $0x4e9ca664 // smmla v4.4s, v19.16b, v28.16b
	WORD $0x4e9da665 // smmla v5.4s, v19.16b, v29.16b
	WORD $0x4e9ea666 // smmla v6.4s, v19.16b, v30.16b
	WORD $0x4e9fa667 // smmla v7.4s, v19.16b, v31.16b
	FMOVQ.P 16(R6), F16
	FMOVQ.P 16(R7), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a648 // smmla v8.4s, v18.16b, v24.16b
	WORD $0x4e99a649 // smmla v9.4s, v18.16b, v25.16b
	WORD $0x4e9aa64a // smmla v10.4s, v18.16b, v26.16b
	WORD $0x4e9ba64b // smmla v11.4s, v18.16b, v27.16b
	WORD $0x4e9ca668 // smmla v8.4s, v19.16b, v28.16b
	WORD $0x4e9da669 // smmla v9.4s, v19.16b, v29.16b
	WORD $0x4e9ea66a // smmla v10.4s, v19.16b, v30.16b
	WORD $0x4e9fa66b // smmla v11.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step12
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec17810 // zip2 v16.2d, v0.2d, v1.2d
	WORD $0x4ec37851 // zip2 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec53890 // zip1 v16.2d, v4.2d, v5.2d
	WORD $0x4ec738d1 // zip1 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec57890 // zip2 v16.2d, v4.2d, v5.2d
	WORD $0x4ec778d1 // zip2 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec93910 // zip1 v16.2d, v8.2d, v9.2d
	WORD $0x4ecb3951 // zip1 v17.2d, v10.2d, v11.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec97910 // zip2 v16.2d, v8.2d, v9.2d
	WORD $0x4ecb7951 // zip2 v17.2d, v10.2d, v11.2d
	FSTPQ (F16, F17), (R2)
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
	WORD $0x6e2e1dce // eor v14.16b, v14.16b, v14.16b
	WORD $0x6e2f1def // eor v15.16b, v15.16b, v15.16b
step14:
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	FMOVQ.P 16(R4), F16
	FMOVQ.P 16(R5), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a644 // smmla v4.4s, v18.16b, v24.16b
	WORD $0x4e99a645 // smmla v5.4s, v18.16b, v25.16b
	WORD $0x4e9aa646 // smmla v6.4s, v18.16b, v26.16b
	WORD $0x4e9ba647 // smmla v7.4s, v18.16b, v27.16b
	WORD $0x4e9ca664 // smmla v4.4s, v19.16b, v28.16b
	WORD $0x4e9da665 // smmla v5.4s, v19.16b, v29.16b
	WORD $0x4e9ea666 // smmla v6.4s, v19.16b, v30.16b
	WORD $0x4e9fa667 // smmla v7.4s, v19.16b, v31.16b
	FMOVQ.P 16(R6), F16
	FMOVQ.P 16(R7), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a648 // smmla v8.4s, v18.16b, v24.16b
	WORD $0x4e99a649 // smmla v9.4s, v18.16b, v25.16b
	WORD $0x4e9aa64a // smmla v10.4s, v18.16b, v26.16b
	WORD $0x4e9ba64b // smmla v11.4s, v18.16b, v27.16b
	WORD $0x4e9ca668 // smmla v8.4s, v19.16b, v28.16b
	WORD $0x4e9da669 // smmla v9.4s, v19.16b, v29.16b
	WORD $0x4e9ea66a // smmla v10.4s, v19.16b, v30.16b
	WORD $0x4e9fa66b // smmla v11.4s, v19.16b, v31.16b
	FMOVQ.P 16(R8), F16
	WORD $0x4ed03a12 // zip1 v18.2d, v16.2d, v16.2d
	WORD $0x4ed07a13 // zip2 v19.2d, v16.2d, v16.2d
	WORD $0x4e98a64c // smmla v12.4s, v18.16b, v24.16b
	WORD $0x4e99a64d // smmla v13.4s, v18.16b, v25.16b
	WORD $0x4e9aa64e // smmla v14.4s, v18.16b, v26.16b
	WORD $0x4e9ba64f // smmla v15.4s, v18.16b, v27.16b
	WORD $0x4e9ca66c // smmla v12.4s, v19.16b, v28.16b
	WORD $0x4e9da66d // smmla v13.4s, v19.16b, v29.16b
	WORD $0x4e9ea66e // smmla v14.4s, v19.16b, v30.16b
	WORD $0x4e9fa66f // smmla v15.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step14
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec17810 // zip2 v16.2d, v0.2d, v1.2d
	WORD $0x4ec37851 // zip2 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec53890 // zip1 v16.2d, v4.2d, v5.2d
	WORD $0x4ec738d1 // zip1 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec57890 // zip2 v16.2d, v4.2d, v5.2d
	WORD $0x4ec778d1 // zip2 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec93910 // zip1 v16.2d, v8.2d, v9.2d
	WORD $0x4ecb3951 // zip1 v17.2d, v10.2d, v11.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec97910 // zip2 v16.2d, v8.2d, v9.2d
	WORD $0x4ecb7951 // zip2 v17.2d, v10.2d, v11.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ecd3990 // zip1 v16.2d, v12.2d, v13.2d
	WORD $0x4ecf39d1 // zip1 v17.2d, v14.2d, v15.2d
	FSTPQ (F16, F17), (R2)
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
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e963a98 // zip1 v24.4s, v20.4s, v22.4s
	WORD $0x4e967a99 // zip2 v25.4s, v20.4s, v22.4s
	WORD $0x4e973aba // zip1 v26.4s, v21.4s, v23.4s
	WORD $0x4e977abb // zip2 v27.4s, v21.4s, v23.4s
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e963a9c // zip1 v28.4s, v20.4s, v22.4s
	WORD $0x4e967a9d // zip2 v29.4s, v20.4s, v22.4s
	WORD $0x4e973abe // zip1 v30.4s, v21.4s, v23.4s
	WORD $0x4e977abf // zip2 v31.4s, v21.4s, v23.4s
	ADD $512, R10
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a640 // smmla v0.4s, v18.16b, v24.16b
	WORD $0x4e99a641 // smmla v1.4s, v18.16b, v25.16b
	WORD $0x4e9aa642 // smmla v2.4s, v18.16b, v26.16b
	WORD $0x4e9ba643 // smmla v3.4s, v18.16b, v27.16b
	WORD $0x4e9ca660 // smmla v0.4s, v19.16b, v28.16b
	WORD $0x4e9da661 // smmla v1.4s, v19.16b, v29.16b
	WORD $0x4e9ea662 // smmla v2.4s, v19.16b, v30.16b
	WORD $0x4e9fa663 // smmla v3.4s, v19.16b, v31.16b
	FMOVQ.P 16(R4), F16
	FMOVQ.P 16(R5), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a644 // smmla v4.4s, v18.16b, v24.16b
	WORD $0x4e99a645 // smmla v5.4s, v18.16b, v25.16b
	WORD $0x4e9aa646 // smmla v6.4s, v18.16b, v26.16b
	WORD $0x4e9ba647 // smmla v7.4s, v18.16b, v27.16b
	WORD $0x4e9ca664 // smmla v4.4s, v19.16b, v28.16b
	WORD $0x4e9da665 // smmla v5.4s, v19.16b, v29.16b
	WORD $0x4e9ea666 // smmla v6.4s, v19.16b, v30.16b
	WORD $0x4e9fa667 // smmla v7.4s, v19.16b, v31.16b
	FMOVQ.P 16(R6), F16
	FMOVQ.P 16(R7), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a648 // smmla v8.4s, v18.16b, v24.16b
	WORD $0x4e99a649 // smmla v9.4s, v18.16b, v25.16b
	WORD $0x4e9aa64a // smmla v10.4s, v18.16b, v26.16b
	WORD $0x4e9ba64b // smmla v11.4s, v18.16b, v27.16b
	WORD $0x4e9ca668 // smmla v8.4s, v19.16b, v28.16b
	WORD $0x4e9da669 // smmla v9.4s, v19.16b, v29.16b
	WORD $0x4e9ea66a // smmla v10.4s, v19.16b, v30.16b
	WORD $0x4e9fa66b // smmla v11.4s, v19.16b, v31.16b
	FMOVQ.P 16(R8), F16
	FMOVQ.P 16(R9), F17
	WORD $0x4ed13a12 // zip1 v18.2d, v16.2d, v17.2d
	WORD $0x4ed17a13 // zip2 v19.2d, v16.2d, v17.2d
	WORD $0x4e98a64c // smmla v12.4s, v18.16b, v24.16b
	WORD $0x4e99a64d // smmla v13.4s, v18.16b, v25.16b
	WORD $0x4e9aa64e // smmla v14.4s, v18.16b, v26.16b
	WORD $0x4e9ba64f // smmla v15.4s, v18.16b, v27.16b
	WORD $0x4e9ca66c // smmla v12.4s, v19.16b, v28.16b
	WORD $0x4e9da66d // smmla v13.4s, v19.16b, v29.16b
	WORD $0x4e9ea66e // smmla v14.4s, v19.16b, v30.16b
	WORD $0x4e9fa66f // smmla v15.4s, v19.16b, v31.16b
	SUBS $1, R12
	BNE step16
	MOVD R14, R2
	WORD $0x4ec13810 // zip1 v16.2d, v0.2d, v1.2d
	WORD $0x4ec33851 // zip1 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec17810 // zip2 v16.2d, v0.2d, v1.2d
	WORD $0x4ec37851 // zip2 v17.2d, v2.2d, v3.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec53890 // zip1 v16.2d, v4.2d, v5.2d
	WORD $0x4ec738d1 // zip1 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec57890 // zip2 v16.2d, v4.2d, v5.2d
	WORD $0x4ec778d1 // zip2 v17.2d, v6.2d, v7.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec93910 // zip1 v16.2d, v8.2d, v9.2d
	WORD $0x4ecb3951 // zip1 v17.2d, v10.2d, v11.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ec97910 // zip2 v16.2d, v8.2d, v9.2d
	WORD $0x4ecb7951 // zip2 v17.2d, v10.2d, v11.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ecd3990 // zip1 v16.2d, v12.2d, v13.2d
	WORD $0x4ecf39d1 // zip1 v17.2d, v14.2d, v15.2d
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	WORD $0x4ecd7990 // zip2 v16.2d, v12.2d, v13.2d
	WORD $0x4ecf79d1 // zip2 v17.2d, v14.2d, v15.2d
	FSTPQ (F16, F17), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns15
	RET
