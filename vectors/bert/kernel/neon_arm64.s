// Code printed by the program in folder asm. DO NOT EDIT.

//go:build arm64 && !purego

#include "textflag.h"

// func tile8NEON(dst []int32, dstStride int, act []byte, actStride int, panel []int8, groups int, rows int)
TEXT ·tile8NEON(SB), NOSPLIT, $0-104
	MOVD act_base+32(FP), R21
	MOVD actStride+56(FP), R19
	MOVD dst_base+0(FP), R14
	MOVD dstStride+24(FP), R15
	LSL $2, R15
	MOVD panel_base+64(FP), R20
	MOVD groups+88(FP), R22
	LSR $2, R22
	MOVD rows+96(FP), R0
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
	FMOVQ.P 16(R2), F16
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e040618 // dup v24.4s, v16.s[0]
	WORD $0x4e0c0619 // dup v25.4s, v16.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e140618 // dup v24.4s, v16.s[2]
	WORD $0x4e1c0619 // dup v25.4s, v16.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	ADD $512, R10
	SUBS $1, R12
	BNE step2
	MOVD R14, R2
	WORD $0x4ea1bc00 // addp v0.4s, v0.4s, v1.4s
	WORD $0x4ea3bc42 // addp v2.4s, v2.4s, v3.4s
	FSTPQ (F0, F2), (R2)
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
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
step4:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e040618 // dup v24.4s, v16.s[0]
	WORD $0x4e0c0619 // dup v25.4s, v16.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	WORD $0x4e040638 // dup v24.4s, v17.s[0]
	WORD $0x4e0c0639 // dup v25.4s, v17.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b44 // sadalp v4.4s, v26.8h
	WORD $0x4e606b65 // sadalp v5.4s, v27.8h
	WORD $0x4e606b86 // sadalp v6.4s, v28.8h
	WORD $0x4e606ba7 // sadalp v7.4s, v29.8h
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e140618 // dup v24.4s, v16.s[2]
	WORD $0x4e1c0619 // dup v25.4s, v16.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	WORD $0x4e140638 // dup v24.4s, v17.s[2]
	WORD $0x4e1c0639 // dup v25.4s, v17.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b44 // sadalp v4.4s, v26.8h
	WORD $0x4e606b65 // sadalp v5.4s, v27.8h
	WORD $0x4e606b86 // sadalp v6.4s, v28.8h
	WORD $0x4e606ba7 // sadalp v7.4s, v29.8h
	ADD $512, R10
	SUBS $1, R12
	BNE step4
	MOVD R14, R2
	WORD $0x4ea1bc00 // addp v0.4s, v0.4s, v1.4s
	WORD $0x4ea3bc42 // addp v2.4s, v2.4s, v3.4s
	FSTPQ (F0, F2), (R2)
	ADD R15, R2
	WORD $0x4ea5bc84 // addp v4.4s, v4.4s, v5.4s
	WORD $0x4ea7bcc6 // addp v6.4s, v6.4s, v7.4s
	FSTPQ (F4, F6), (R2)
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
	WORD $0x6e281d08 // eor v8.16b, v8.16b, v8.16b
	WORD $0x6e291d29 // eor v9.16b, v9.16b, v9.16b
	WORD $0x6e2a1d4a // eor v10.16b, v10.16b, v10.16b
	WORD $0x6e2b1d6b // eor v11.16b, v11.16b, v11.16b
step6:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e040618 // dup v24.4s, v16.s[0]
	WORD $0x4e0c0619 // dup v25.4s, v16.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	WORD $0x4e040638 // dup v24.4s, v17.s[0]
	WORD $0x4e0c0639 // dup v25.4s, v17.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b44 // sadalp v4.4s, v26.8h
	WORD $0x4e606b65 // sadalp v5.4s, v27.8h
	WORD $0x4e606b86 // sadalp v6.4s, v28.8h
	WORD $0x4e606ba7 // sadalp v7.4s, v29.8h
	WORD $0x4e040658 // dup v24.4s, v18.s[0]
	WORD $0x4e0c0659 // dup v25.4s, v18.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b48 // sadalp v8.4s, v26.8h
	WORD $0x4e606b69 // sadalp v9.4s, v27.8h
	WORD $0x4e606b8a // sadalp v10.4s, v28.8h
	WORD $0x4e606bab // sadalp v11.4s, v29.8h
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e140618 // dup v24.4s, v16.s[2]
	WORD $0x4e1c0619 // dup v25.4s, v16.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	WORD $0x4e140638 // dup v24.4s, v17.s[2]
	WORD $0x4e1c0639 // dup v25.4s, v17.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b44 // sadalp v4.4s, v26.8h
	WORD $0x4e606b65 // sadalp v5.4s, v27.8h
	WORD $0x4e606b86 // sadalp v6.4s, v28.8h
	WORD $0x4e606ba7 // sadalp v7.4s, v29.8h
	WORD $0x4e140658 // dup v24.4s, v18.s[2]
	WORD $0x4e1c0659 // dup v25.4s, v18.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b48 // sadalp v8.4s, v26.8h
	WORD $0x4e606b69 // sadalp v9.4s, v27.8h
	WORD $0x4e606b8a // sadalp v10.4s, v28.8h
	WORD $0x4e606bab // sadalp v11.4s, v29.8h
	ADD $512, R10
	SUBS $1, R12
	BNE step6
	MOVD R14, R2
	WORD $0x4ea1bc00 // addp v0.4s, v0.4s, v1.4s
	WORD $0x4ea3bc42 // addp v2.4s, v2.4s, v3.4s
	FSTPQ (F0, F2), (R2)
	ADD R15, R2
	WORD $0x4ea5bc84 // addp v4.4s, v4.4s, v5.4s
	WORD $0x4ea7bcc6 // addp v6.4s, v6.4s, v7.4s
	FSTPQ (F4, F6), (R2)
	ADD R15, R2
	WORD $0x4ea9bd08 // addp v8.4s, v8.4s, v9.4s
	WORD $0x4eabbd4a // addp v10.4s, v10.4s, v11.4s
	FSTPQ (F8, F10), (R2)
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
	WORD $0x6e281d08 // eor v8.16b, v8.16b, v8.16b
	WORD $0x6e291d29 // eor v9.16b, v9.16b, v9.16b
	WORD $0x6e2a1d4a // eor v10.16b, v10.16b, v10.16b
	WORD $0x6e2b1d6b // eor v11.16b, v11.16b, v11.16b
	WORD $0x6e2c1d8c // eor v12.16b, v12.16b, v12.16b
	WORD $0x6e2d1dad // eor v13.16b, v13.16b, v13.16b
	WORD $0x6e2e1dce // eor v14.16b, v14.16b, v14.16b
	WORD $0x6e2f1def // eor v15.16b, v15.16b, v15.16b
step8:
	FMOVQ.P 16(R2), F16
	FMOVQ.P 16(R3), F17
	FMOVQ.P 16(R4), F18
	FMOVQ.P 16(R5), F19
	FLDPQ 0(R10), (F20, F21)
	FLDPQ 128(R10), (F22, F23)
	WORD $0x4e040618 // dup v24.4s, v16.s[0]
	WORD $0x4e0c0619 // dup v25.4s, v16.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	WORD $0x4e040638 // dup v24.4s, v17.s[0]
	WORD $0x4e0c0639 // dup v25.4s, v17.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b44 // sadalp v4.4s, v26.8h
	WORD $0x4e606b65 // sadalp v5.4s, v27.8h
	WORD $0x4e606b86 // sadalp v6.4s, v28.8h
	WORD $0x4e606ba7 // sadalp v7.4s, v29.8h
	WORD $0x4e040658 // dup v24.4s, v18.s[0]
	WORD $0x4e0c0659 // dup v25.4s, v18.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b48 // sadalp v8.4s, v26.8h
	WORD $0x4e606b69 // sadalp v9.4s, v27.8h
	WORD $0x4e606b8a // sadalp v10.4s, v28.8h
	WORD $0x4e606bab // sadalp v11.4s, v29.8h
	WORD $0x4e040678 // dup v24.4s, v19.s[0]
	WORD $0x4e0c0679 // dup v25.4s, v19.s[1]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b4c // sadalp v12.4s, v26.8h
	WORD $0x4e606b6d // sadalp v13.4s, v27.8h
	WORD $0x4e606b8e // sadalp v14.4s, v28.8h
	WORD $0x4e606baf // sadalp v15.4s, v29.8h
	FLDPQ 256(R10), (F20, F21)
	FLDPQ 384(R10), (F22, F23)
	WORD $0x4e140618 // dup v24.4s, v16.s[2]
	WORD $0x4e1c0619 // dup v25.4s, v16.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b40 // sadalp v0.4s, v26.8h
	WORD $0x4e606b61 // sadalp v1.4s, v27.8h
	WORD $0x4e606b82 // sadalp v2.4s, v28.8h
	WORD $0x4e606ba3 // sadalp v3.4s, v29.8h
	WORD $0x4e140638 // dup v24.4s, v17.s[2]
	WORD $0x4e1c0639 // dup v25.4s, v17.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b44 // sadalp v4.4s, v26.8h
	WORD $0x4e606b65 // sadalp v5.4s, v27.8h
	WORD $0x4e606b86 // sadalp v6.4s, v28.8h
	WORD $0x4e606ba7 // sadalp v7.4s, v29.8h
	WORD $0x4e140658 // dup v24.4s, v18.s[2]
	WORD $0x4e1c0659 // dup v25.4s, v18.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b48 // sadalp v8.4s, v26.8h
	WORD $0x4e606b69 // sadalp v9.4s, v27.8h
	WORD $0x4e606b8a // sadalp v10.4s, v28.8h
	WORD $0x4e606bab // sadalp v11.4s, v29.8h
	WORD $0x4e140678 // dup v24.4s, v19.s[2]
	WORD $0x4e1c0679 // dup v25.4s, v19.s[3]
	WORD $0x0e38c29a // smull v26.8h, v20.8b, v24.8b
	WORD $0x4e38c29b // smull2 v27.8h, v20.16b, v24.16b
	WORD $0x0e38c2bc // smull v28.8h, v21.8b, v24.8b
	WORD $0x4e38c2bd // smull2 v29.8h, v21.16b, v24.16b
	WORD $0x0e3982da // smlal v26.8h, v22.8b, v25.8b
	WORD $0x4e3982db // smlal2 v27.8h, v22.16b, v25.16b
	WORD $0x0e3982fc // smlal v28.8h, v23.8b, v25.8b
	WORD $0x4e3982fd // smlal2 v29.8h, v23.16b, v25.16b
	WORD $0x4e606b4c // sadalp v12.4s, v26.8h
	WORD $0x4e606b6d // sadalp v13.4s, v27.8h
	WORD $0x4e606b8e // sadalp v14.4s, v28.8h
	WORD $0x4e606baf // sadalp v15.4s, v29.8h
	ADD $512, R10
	SUBS $1, R12
	BNE step8
	MOVD R14, R2
	WORD $0x4ea1bc00 // addp v0.4s, v0.4s, v1.4s
	WORD $0x4ea3bc42 // addp v2.4s, v2.4s, v3.4s
	FSTPQ (F0, F2), (R2)
	ADD R15, R2
	WORD $0x4ea5bc84 // addp v4.4s, v4.4s, v5.4s
	WORD $0x4ea7bcc6 // addp v6.4s, v6.4s, v7.4s
	FSTPQ (F4, F6), (R2)
	ADD R15, R2
	WORD $0x4ea9bd08 // addp v8.4s, v8.4s, v9.4s
	WORD $0x4eabbd4a // addp v10.4s, v10.4s, v11.4s
	FSTPQ (F8, F10), (R2)
	ADD R15, R2
	WORD $0x4eadbd8c // addp v12.4s, v12.4s, v13.4s
	WORD $0x4eafbdce // addp v14.4s, v14.4s, v15.4s
	FSTPQ (F12, F14), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns7
	RET

// func tile16NEON(dst []int32, dstStride int, a []int16, aStride int, b []uint32, bStride int, pairs int, rows int)
TEXT ·tile16NEON(SB), NOSPLIT, $0-112
	MOVD bStride+88(FP), R11
	LSL $2, R11
	MOVD a_base+32(FP), R21
	MOVD aStride+56(FP), R19
	LSL $1, R19
	MOVD dst_base+0(FP), R14
	MOVD dstStride+24(FP), R15
	LSL $2, R15
	MOVD b_base+64(FP), R20
	MOVD pairs+96(FP), R22
	LSR $2, R22
	MOVD rows+104(FP), R0
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
step2:
	FMOVQ.P 16(R2), F0
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	SUBS $1, R12
	BNE step2
	MOVD R14, R2
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	WORD $0x6e321e52 // eor v18.16b, v18.16b, v18.16b
	WORD $0x6e331e73 // eor v19.16b, v19.16b, v19.16b
step4:
	FMOVQ.P 16(R2), F0
	FMOVQ.P 16(R3), F1
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f412152 // smlal v18.4s, v10.4h, v1.h[0]
	WORD $0x4f412153 // smlal2 v19.4s, v10.8h, v1.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	WORD $0x0f512172 // smlal v18.4s, v11.4h, v1.h[1]
	WORD $0x4f512173 // smlal2 v19.4s, v11.8h, v1.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f612152 // smlal v18.4s, v10.4h, v1.h[2]
	WORD $0x4f612153 // smlal2 v19.4s, v10.8h, v1.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	WORD $0x0f712172 // smlal v18.4s, v11.4h, v1.h[3]
	WORD $0x4f712173 // smlal2 v19.4s, v11.8h, v1.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f412952 // smlal v18.4s, v10.4h, v1.h[4]
	WORD $0x4f412953 // smlal2 v19.4s, v10.8h, v1.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	WORD $0x0f512972 // smlal v18.4s, v11.4h, v1.h[5]
	WORD $0x4f512973 // smlal2 v19.4s, v11.8h, v1.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f612952 // smlal v18.4s, v10.4h, v1.h[6]
	WORD $0x4f612953 // smlal2 v19.4s, v10.8h, v1.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	WORD $0x0f712972 // smlal v18.4s, v11.4h, v1.h[7]
	WORD $0x4f712973 // smlal2 v19.4s, v11.8h, v1.h[7]
	SUBS $1, R12
	BNE step4
	MOVD R14, R2
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	FSTPQ (F18, F19), (R2)
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	WORD $0x6e321e52 // eor v18.16b, v18.16b, v18.16b
	WORD $0x6e331e73 // eor v19.16b, v19.16b, v19.16b
	WORD $0x6e341e94 // eor v20.16b, v20.16b, v20.16b
	WORD $0x6e351eb5 // eor v21.16b, v21.16b, v21.16b
step6:
	FMOVQ.P 16(R2), F0
	FMOVQ.P 16(R3), F1
	FMOVQ.P 16(R4), F2
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f412152 // smlal v18.4s, v10.4h, v1.h[0]
	WORD $0x4f412153 // smlal2 v19.4s, v10.8h, v1.h[0]
	WORD $0x0f422154 // smlal v20.4s, v10.4h, v2.h[0]
	WORD $0x4f422155 // smlal2 v21.4s, v10.8h, v2.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	WORD $0x0f512172 // smlal v18.4s, v11.4h, v1.h[1]
	WORD $0x4f512173 // smlal2 v19.4s, v11.8h, v1.h[1]
	WORD $0x0f522174 // smlal v20.4s, v11.4h, v2.h[1]
	WORD $0x4f522175 // smlal2 v21.4s, v11.8h, v2.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f612152 // smlal v18.4s, v10.4h, v1.h[2]
	WORD $0x4f612153 // smlal2 v19.4s, v10.8h, v1.h[2]
	WORD $0x0f622154 // smlal v20.4s, v10.4h, v2.h[2]
	WORD $0x4f622155 // smlal2 v21.4s, v10.8h, v2.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	WORD $0x0f712172 // smlal v18.4s, v11.4h, v1.h[3]
	WORD $0x4f712173 // smlal2 v19.4s, v11.8h, v1.h[3]
	WORD $0x0f722174 // smlal v20.4s, v11.4h, v2.h[3]
	WORD $0x4f722175 // smlal2 v21.4s, v11.8h, v2.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f412952 // smlal v18.4s, v10.4h, v1.h[4]
	WORD $0x4f412953 // smlal2 v19.4s, v10.8h, v1.h[4]
	WORD $0x0f422954 // smlal v20.4s, v10.4h, v2.h[4]
	WORD $0x4f422955 // smlal2 v21.4s, v10.8h, v2.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	WORD $0x0f512972 // smlal v18.4s, v11.4h, v1.h[5]
	WORD $0x4f512973 // smlal2 v19.4s, v11.8h, v1.h[5]
	WORD $0x0f522974 // smlal v20.4s, v11.4h, v2.h[5]
	WORD $0x4f522975 // smlal2 v21.4s, v11.8h, v2.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f612952 // smlal v18.4s, v10.4h, v1.h[6]
	WORD $0x4f612953 // smlal2 v19.4s, v10.8h, v1.h[6]
	WORD $0x0f622954 // smlal v20.4s, v10.4h, v2.h[6]
	WORD $0x4f622955 // smlal2 v21.4s, v10.8h, v2.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	WORD $0x0f712972 // smlal v18.4s, v11.4h, v1.h[7]
	WORD $0x4f712973 // smlal2 v19.4s, v11.8h, v1.h[7]
	WORD $0x0f722974 // smlal v20.4s, v11.4h, v2.h[7]
	WORD $0x4f722975 // smlal2 v21.4s, v11.8h, v2.h[7]
	SUBS $1, R12
	BNE step6
	MOVD R14, R2
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	FSTPQ (F18, F19), (R2)
	ADD R15, R2
	FSTPQ (F20, F21), (R2)
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	WORD $0x6e321e52 // eor v18.16b, v18.16b, v18.16b
	WORD $0x6e331e73 // eor v19.16b, v19.16b, v19.16b
	WORD $0x6e341e94 // eor v20.16b, v20.16b, v20.16b
	WORD $0x6e351eb5 // eor v21.16b, v21.16b, v21.16b
	WORD $0x6e361ed6 // eor v22.16b, v22.16b, v22.16b
	WORD $0x6e371ef7 // eor v23.16b, v23.16b, v23.16b
step8:
	FMOVQ.P 16(R2), F0
	FMOVQ.P 16(R3), F1
	FMOVQ.P 16(R4), F2
	FMOVQ.P 16(R5), F3
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f412152 // smlal v18.4s, v10.4h, v1.h[0]
	WORD $0x4f412153 // smlal2 v19.4s, v10.8h, v1.h[0]
	WORD $0x0f422154 // smlal v20.4s, v10.4h, v2.h[0]
	WORD $0x4f422155 // smlal2 v21.4s, v10.8h, v2.h[0]
	WORD $0x0f432156 // smlal v22.4s, v10.4h, v3.h[0]
	WORD $0x4f432157 // smlal2 v23.4s, v10.8h, v3.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	WORD $0x0f512172 // smlal v18.4s, v11.4h, v1.h[1]
	WORD $0x4f512173 // smlal2 v19.4s, v11.8h, v1.h[1]
	WORD $0x0f522174 // smlal v20.4s, v11.4h, v2.h[1]
	WORD $0x4f522175 // smlal2 v21.4s, v11.8h, v2.h[1]
	WORD $0x0f532176 // smlal v22.4s, v11.4h, v3.h[1]
	WORD $0x4f532177 // smlal2 v23.4s, v11.8h, v3.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f612152 // smlal v18.4s, v10.4h, v1.h[2]
	WORD $0x4f612153 // smlal2 v19.4s, v10.8h, v1.h[2]
	WORD $0x0f622154 // smlal v20.4s, v10.4h, v2.h[2]
	WORD $0x4f622155 // smlal2 v21.4s, v10.8h, v2.h[2]
	WORD $0x0f632156 // smlal v22.4s, v10.4h, v3.h[2]
	WORD $0x4f632157 // smlal2 v23.4s, v10.8h, v3.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	WORD $0x0f712172 // smlal v18.4s, v11.4h, v1.h[3]
	WORD $0x4f712173 // smlal2 v19.4s, v11.8h, v1.h[3]
	WORD $0x0f722174 // smlal v20.4s, v11.4h, v2.h[3]
	WORD $0x4f722175 // smlal2 v21.4s, v11.8h, v2.h[3]
	WORD $0x0f732176 // smlal v22.4s, v11.4h, v3.h[3]
	WORD $0x4f732177 // smlal2 v23.4s, v11.8h, v3.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f412952 // smlal v18.4s, v10.4h, v1.h[4]
	WORD $0x4f412953 // smlal2 v19.4s, v10.8h, v1.h[4]
	WORD $0x0f422954 // smlal v20.4s, v10.4h, v2.h[4]
	WORD $0x4f422955 // smlal2 v21.4s, v10.8h, v2.h[4]
	WORD $0x0f432956 // smlal v22.4s, v10.4h, v3.h[4]
	WORD $0x4f432957 // smlal2 v23.4s, v10.8h, v3.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	WORD $0x0f512972 // smlal v18.4s, v11.4h, v1.h[5]
	WORD $0x4f512973 // smlal2 v19.4s, v11.8h, v1.h[5]
	WORD $0x0f522974 // smlal v20.4s, v11.4h, v2.h[5]
	WORD $0x4f522975 // smlal2 v21.4s, v11.8h, v2.h[5]
	WORD $0x0f532976 // smlal v22.4s, v11.4h, v3.h[5]
	WORD $0x4f532977 // smlal2 v23.4s, v11.8h, v3.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f612952 // smlal v18.4s, v10.4h, v1.h[6]
	WORD $0x4f612953 // smlal2 v19.4s, v10.8h, v1.h[6]
	WORD $0x0f622954 // smlal v20.4s, v10.4h, v2.h[6]
	WORD $0x4f622955 // smlal2 v21.4s, v10.8h, v2.h[6]
	WORD $0x0f632956 // smlal v22.4s, v10.4h, v3.h[6]
	WORD $0x4f632957 // smlal2 v23.4s, v10.8h, v3.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	WORD $0x0f712972 // smlal v18.4s, v11.4h, v1.h[7]
	WORD $0x4f712973 // smlal2 v19.4s, v11.8h, v1.h[7]
	WORD $0x0f722974 // smlal v20.4s, v11.4h, v2.h[7]
	WORD $0x4f722975 // smlal2 v21.4s, v11.8h, v2.h[7]
	WORD $0x0f732976 // smlal v22.4s, v11.4h, v3.h[7]
	WORD $0x4f732977 // smlal2 v23.4s, v11.8h, v3.h[7]
	SUBS $1, R12
	BNE step8
	MOVD R14, R2
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	FSTPQ (F18, F19), (R2)
	ADD R15, R2
	FSTPQ (F20, F21), (R2)
	ADD R15, R2
	FSTPQ (F22, F23), (R2)
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	WORD $0x6e321e52 // eor v18.16b, v18.16b, v18.16b
	WORD $0x6e331e73 // eor v19.16b, v19.16b, v19.16b
	WORD $0x6e341e94 // eor v20.16b, v20.16b, v20.16b
	WORD $0x6e351eb5 // eor v21.16b, v21.16b, v21.16b
	WORD $0x6e361ed6 // eor v22.16b, v22.16b, v22.16b
	WORD $0x6e371ef7 // eor v23.16b, v23.16b, v23.16b
	WORD $0x6e381f18 // eor v24.16b, v24.16b, v24.16b
	WORD $0x6e391f39 // eor v25.16b, v25.16b, v25.16b
step10:
	FMOVQ.P 16(R2), F0
	FMOVQ.P 16(R3), F1
	FMOVQ.P 16(R4), F2
	FMOVQ.P 16(R5), F3
	FMOVQ.P 16(R6), F4
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f412152 // smlal v18.4s, v10.4h, v1.h[0]
	WORD $0x4f412153 // smlal2 v19.4s, v10.8h, v1.h[0]
	WORD $0x0f422154 // smlal v20.4s, v10.4h, v2.h[0]
	WORD $0x4f422155 // smlal2 v21.4s, v10.8h, v2.h[0]
	WORD $0x0f432156 // smlal v22.4s, v10.4h, v3.h[0]
	WORD $0x4f432157 // smlal2 v23.4s, v10.8h, v3.h[0]
	WORD $0x0f442158 // smlal v24.4s, v10.4h, v4.h[0]
	WORD $0x4f442159 // smlal2 v25.4s, v10.8h, v4.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	WORD $0x0f512172 // smlal v18.4s, v11.4h, v1.h[1]
	WORD $0x4f512173 // smlal2 v19.4s, v11.8h, v1.h[1]
	WORD $0x0f522174 // smlal v20.4s, v11.4h, v2.h[1]
	WORD $0x4f522175 // smlal2 v21.4s, v11.8h, v2.h[1]
	WORD $0x0f532176 // smlal v22.4s, v11.4h, v3.h[1]
	WORD $0x4f532177 // smlal2 v23.4s, v11.8h, v3.h[1]
	WORD $0x0f542178 // smlal v24.4s, v11.4h, v4.h[1]
	WORD $0x4f542179 // smlal2 v25.4s, v11.8h, v4.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f612152 // smlal v18.4s, v10.4h, v1.h[2]
	WORD $0x4f612153 // smlal2 v19.4s, v10.8h, v1.h[2]
	WORD $0x0f622154 // smlal v20.4s, v10.4h, v2.h[2]
	WORD $0x4f622155 // smlal2 v21.4s, v10.8h, v2.h[2]
	WORD $0x0f632156 // smlal v22.4s, v10.4h, v3.h[2]
	WORD $0x4f632157 // smlal2 v23.4s, v10.8h, v3.h[2]
	WORD $0x0f642158 // smlal v24.4s, v10.4h, v4.h[2]
	WORD $0x4f642159 // smlal2 v25.4s, v10.8h, v4.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	WORD $0x0f712172 // smlal v18.4s, v11.4h, v1.h[3]
	WORD $0x4f712173 // smlal2 v19.4s, v11.8h, v1.h[3]
	WORD $0x0f722174 // smlal v20.4s, v11.4h, v2.h[3]
	WORD $0x4f722175 // smlal2 v21.4s, v11.8h, v2.h[3]
	WORD $0x0f732176 // smlal v22.4s, v11.4h, v3.h[3]
	WORD $0x4f732177 // smlal2 v23.4s, v11.8h, v3.h[3]
	WORD $0x0f742178 // smlal v24.4s, v11.4h, v4.h[3]
	WORD $0x4f742179 // smlal2 v25.4s, v11.8h, v4.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f412952 // smlal v18.4s, v10.4h, v1.h[4]
	WORD $0x4f412953 // smlal2 v19.4s, v10.8h, v1.h[4]
	WORD $0x0f422954 // smlal v20.4s, v10.4h, v2.h[4]
	WORD $0x4f422955 // smlal2 v21.4s, v10.8h, v2.h[4]
	WORD $0x0f432956 // smlal v22.4s, v10.4h, v3.h[4]
	WORD $0x4f432957 // smlal2 v23.4s, v10.8h, v3.h[4]
	WORD $0x0f442958 // smlal v24.4s, v10.4h, v4.h[4]
	WORD $0x4f442959 // smlal2 v25.4s, v10.8h, v4.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	WORD $0x0f512972 // smlal v18.4s, v11.4h, v1.h[5]
	WORD $0x4f512973 // smlal2 v19.4s, v11.8h, v1.h[5]
	WORD $0x0f522974 // smlal v20.4s, v11.4h, v2.h[5]
	WORD $0x4f522975 // smlal2 v21.4s, v11.8h, v2.h[5]
	WORD $0x0f532976 // smlal v22.4s, v11.4h, v3.h[5]
	WORD $0x4f532977 // smlal2 v23.4s, v11.8h, v3.h[5]
	WORD $0x0f542978 // smlal v24.4s, v11.4h, v4.h[5]
	WORD $0x4f542979 // smlal2 v25.4s, v11.8h, v4.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f612952 // smlal v18.4s, v10.4h, v1.h[6]
	WORD $0x4f612953 // smlal2 v19.4s, v10.8h, v1.h[6]
	WORD $0x0f622954 // smlal v20.4s, v10.4h, v2.h[6]
	WORD $0x4f622955 // smlal2 v21.4s, v10.8h, v2.h[6]
	WORD $0x0f632956 // smlal v22.4s, v10.4h, v3.h[6]
	WORD $0x4f632957 // smlal2 v23.4s, v10.8h, v3.h[6]
	WORD $0x0f642958 // smlal v24.4s, v10.4h, v4.h[6]
	WORD $0x4f642959 // smlal2 v25.4s, v10.8h, v4.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	WORD $0x0f712972 // smlal v18.4s, v11.4h, v1.h[7]
	WORD $0x4f712973 // smlal2 v19.4s, v11.8h, v1.h[7]
	WORD $0x0f722974 // smlal v20.4s, v11.4h, v2.h[7]
	WORD $0x4f722975 // smlal2 v21.4s, v11.8h, v2.h[7]
	WORD $0x0f732976 // smlal v22.4s, v11.4h, v3.h[7]
	WORD $0x4f732977 // smlal2 v23.4s, v11.8h, v3.h[7]
	WORD $0x0f742978 // smlal v24.4s, v11.4h, v4.h[7]
	WORD $0x4f742979 // smlal2 v25.4s, v11.8h, v4.h[7]
	SUBS $1, R12
	BNE step10
	MOVD R14, R2
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	FSTPQ (F18, F19), (R2)
	ADD R15, R2
	FSTPQ (F20, F21), (R2)
	ADD R15, R2
	FSTPQ (F22, F23), (R2)
	ADD R15, R2
	FSTPQ (F24, F25), (R2)
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	WORD $0x6e321e52 // eor v18.16b, v18.16b, v18.16b
	WORD $0x6e331e73 // eor v19.16b, v19.16b, v19.16b
	WORD $0x6e341e94 // eor v20.16b, v20.16b, v20.16b
	WORD $0x6e351eb5 // eor v21.16b, v21.16b, v21.16b
	WORD $0x6e361ed6 // eor v22.16b, v22.16b, v22.16b
	WORD $0x6e371ef7 // eor v23.16b, v23.16b, v23.16b
	WORD $0x6e381f18 // eor v24.16b, v24.16b, v24.16b
	WORD $0x6e391f39 // eor v25.16b, v25.16b, v25.16b
	WORD $0x6e3a1f5a // eor v26.16b, v26.16b, v26.16b
	WORD $0x6e3b1f7b // eor v27.16b, v27.16b, v27.16b
step12:
	FMOVQ.P 16(R2), F0
	FMOVQ.P 16(R3), F1
	FMOVQ.P 16(R4), F2
	FMOVQ.P 16(R5), F3
	FMOVQ.P 16(R6), F4
	FMOVQ.P 16(R7), F5
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f412152 // smlal v18.4s, v10.4h, v1.h[0]
	WORD $0x4f412153 // smlal2 v19.4s, v10.8h, v1.h[0]
	WORD $0x0f422154 // smlal v20.4s, v10.4h, v2.h[0]
	WORD $0x4f422155 // smlal2 v21.4s, v10.8h, v2.h[0]
	WORD $0x0f432156 // smlal v22.4s, v10.4h, v3.h[0]
	WORD $0x4f432157 // smlal2 v23.4s, v10.8h, v3.h[0]
	WORD $0x0f442158 // smlal v24.4s, v10.4h, v4.h[0]
	WORD $0x4f442159 // smlal2 v25.4s, v10.8h, v4.h[0]
	WORD $0x0f45215a // smlal v26.4s, v10.4h, v5.h[0]
	WORD $0x4f45215b // smlal2 v27.4s, v10.8h, v5.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	WORD $0x0f512172 // smlal v18.4s, v11.4h, v1.h[1]
	WORD $0x4f512173 // smlal2 v19.4s, v11.8h, v1.h[1]
	WORD $0x0f522174 // smlal v20.4s, v11.4h, v2.h[1]
	WORD $0x4f522175 // smlal2 v21.4s, v11.8h, v2.h[1]
	WORD $0x0f532176 // smlal v22.4s, v11.4h, v3.h[1]
	WORD $0x4f532177 // smlal2 v23.4s, v11.8h, v3.h[1]
	WORD $0x0f542178 // smlal v24.4s, v11.4h, v4.h[1]
	WORD $0x4f542179 // smlal2 v25.4s, v11.8h, v4.h[1]
	WORD $0x0f55217a // smlal v26.4s, v11.4h, v5.h[1]
	WORD $0x4f55217b // smlal2 v27.4s, v11.8h, v5.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f612152 // smlal v18.4s, v10.4h, v1.h[2]
	WORD $0x4f612153 // smlal2 v19.4s, v10.8h, v1.h[2]
	WORD $0x0f622154 // smlal v20.4s, v10.4h, v2.h[2]
	WORD $0x4f622155 // smlal2 v21.4s, v10.8h, v2.h[2]
	WORD $0x0f632156 // smlal v22.4s, v10.4h, v3.h[2]
	WORD $0x4f632157 // smlal2 v23.4s, v10.8h, v3.h[2]
	WORD $0x0f642158 // smlal v24.4s, v10.4h, v4.h[2]
	WORD $0x4f642159 // smlal2 v25.4s, v10.8h, v4.h[2]
	WORD $0x0f65215a // smlal v26.4s, v10.4h, v5.h[2]
	WORD $0x4f65215b // smlal2 v27.4s, v10.8h, v5.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	WORD $0x0f712172 // smlal v18.4s, v11.4h, v1.h[3]
	WORD $0x4f712173 // smlal2 v19.4s, v11.8h, v1.h[3]
	WORD $0x0f722174 // smlal v20.4s, v11.4h, v2.h[3]
	WORD $0x4f722175 // smlal2 v21.4s, v11.8h, v2.h[3]
	WORD $0x0f732176 // smlal v22.4s, v11.4h, v3.h[3]
	WORD $0x4f732177 // smlal2 v23.4s, v11.8h, v3.h[3]
	WORD $0x0f742178 // smlal v24.4s, v11.4h, v4.h[3]
	WORD $0x4f742179 // smlal2 v25.4s, v11.8h, v4.h[3]
	WORD $0x0f75217a // smlal v26.4s, v11.4h, v5.h[3]
	WORD $0x4f75217b // smlal2 v27.4s, v11.8h, v5.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f412952 // smlal v18.4s, v10.4h, v1.h[4]
	WORD $0x4f412953 // smlal2 v19.4s, v10.8h, v1.h[4]
	WORD $0x0f422954 // smlal v20.4s, v10.4h, v2.h[4]
	WORD $0x4f422955 // smlal2 v21.4s, v10.8h, v2.h[4]
	WORD $0x0f432956 // smlal v22.4s, v10.4h, v3.h[4]
	WORD $0x4f432957 // smlal2 v23.4s, v10.8h, v3.h[4]
	WORD $0x0f442958 // smlal v24.4s, v10.4h, v4.h[4]
	WORD $0x4f442959 // smlal2 v25.4s, v10.8h, v4.h[4]
	WORD $0x0f45295a // smlal v26.4s, v10.4h, v5.h[4]
	WORD $0x4f45295b // smlal2 v27.4s, v10.8h, v5.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	WORD $0x0f512972 // smlal v18.4s, v11.4h, v1.h[5]
	WORD $0x4f512973 // smlal2 v19.4s, v11.8h, v1.h[5]
	WORD $0x0f522974 // smlal v20.4s, v11.4h, v2.h[5]
	WORD $0x4f522975 // smlal2 v21.4s, v11.8h, v2.h[5]
	WORD $0x0f532976 // smlal v22.4s, v11.4h, v3.h[5]
	WORD $0x4f532977 // smlal2 v23.4s, v11.8h, v3.h[5]
	WORD $0x0f542978 // smlal v24.4s, v11.4h, v4.h[5]
	WORD $0x4f542979 // smlal2 v25.4s, v11.8h, v4.h[5]
	WORD $0x0f55297a // smlal v26.4s, v11.4h, v5.h[5]
	WORD $0x4f55297b // smlal2 v27.4s, v11.8h, v5.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f612952 // smlal v18.4s, v10.4h, v1.h[6]
	WORD $0x4f612953 // smlal2 v19.4s, v10.8h, v1.h[6]
	WORD $0x0f622954 // smlal v20.4s, v10.4h, v2.h[6]
	WORD $0x4f622955 // smlal2 v21.4s, v10.8h, v2.h[6]
	WORD $0x0f632956 // smlal v22.4s, v10.4h, v3.h[6]
	WORD $0x4f632957 // smlal2 v23.4s, v10.8h, v3.h[6]
	WORD $0x0f642958 // smlal v24.4s, v10.4h, v4.h[6]
	WORD $0x4f642959 // smlal2 v25.4s, v10.8h, v4.h[6]
	WORD $0x0f65295a // smlal v26.4s, v10.4h, v5.h[6]
	WORD $0x4f65295b // smlal2 v27.4s, v10.8h, v5.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	WORD $0x0f712972 // smlal v18.4s, v11.4h, v1.h[7]
	WORD $0x4f712973 // smlal2 v19.4s, v11.8h, v1.h[7]
	WORD $0x0f722974 // smlal v20.4s, v11.4h, v2.h[7]
	WORD $0x4f722975 // smlal2 v21.4s, v11.8h, v2.h[7]
	WORD $0x0f732976 // smlal v22.4s, v11.4h, v3.h[7]
	WORD $0x4f732977 // smlal2 v23.4s, v11.8h, v3.h[7]
	WORD $0x0f742978 // smlal v24.4s, v11.4h, v4.h[7]
	WORD $0x4f742979 // smlal2 v25.4s, v11.8h, v4.h[7]
	WORD $0x0f75297a // smlal v26.4s, v11.4h, v5.h[7]
	WORD $0x4f75297b // smlal2 v27.4s, v11.8h, v5.h[7]
	SUBS $1, R12
	BNE step12
	MOVD R14, R2
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	FSTPQ (F18, F19), (R2)
	ADD R15, R2
	FSTPQ (F20, F21), (R2)
	ADD R15, R2
	FSTPQ (F22, F23), (R2)
	ADD R15, R2
	FSTPQ (F24, F25), (R2)
	ADD R15, R2
	FSTPQ (F26, F27), (R2)
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	WORD $0x6e321e52 // eor v18.16b, v18.16b, v18.16b
	WORD $0x6e331e73 // eor v19.16b, v19.16b, v19.16b
	WORD $0x6e341e94 // eor v20.16b, v20.16b, v20.16b
	WORD $0x6e351eb5 // eor v21.16b, v21.16b, v21.16b
	WORD $0x6e361ed6 // eor v22.16b, v22.16b, v22.16b
	WORD $0x6e371ef7 // eor v23.16b, v23.16b, v23.16b
	WORD $0x6e381f18 // eor v24.16b, v24.16b, v24.16b
	WORD $0x6e391f39 // eor v25.16b, v25.16b, v25.16b
	WORD $0x6e3a1f5a // eor v26.16b, v26.16b, v26.16b
	WORD $0x6e3b1f7b // eor v27.16b, v27.16b, v27.16b
	WORD $0x6e3c1f9c // eor v28.16b, v28.16b, v28.16b
	WORD $0x6e3d1fbd // eor v29.16b, v29.16b, v29.16b
step14:
	FMOVQ.P 16(R2), F0
	FMOVQ.P 16(R3), F1
	FMOVQ.P 16(R4), F2
	FMOVQ.P 16(R5), F3
	FMOVQ.P 16(R6), F4
	FMOVQ.P 16(R7), F5
	FMOVQ.P 16(R8), F6
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f412152 // smlal v18.4s, v10.4h, v1.h[0]
	WORD $0x4f412153 // smlal2 v19.4s, v10.8h, v1.h[0]
	WORD $0x0f422154 // smlal v20.4s, v10.4h, v2.h[0]
	WORD $0x4f422155 // smlal2 v21.4s, v10.8h, v2.h[0]
	WORD $0x0f432156 // smlal v22.4s, v10.4h, v3.h[0]
	WORD $0x4f432157 // smlal2 v23.4s, v10.8h, v3.h[0]
	WORD $0x0f442158 // smlal v24.4s, v10.4h, v4.h[0]
	WORD $0x4f442159 // smlal2 v25.4s, v10.8h, v4.h[0]
	WORD $0x0f45215a // smlal v26.4s, v10.4h, v5.h[0]
	WORD $0x4f45215b // smlal2 v27.4s, v10.8h, v5.h[0]
	WORD $0x0f46215c // smlal v28.4s, v10.4h, v6.h[0]
	WORD $0x4f46215d // smlal2 v29.4s, v10.8h, v6.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	WORD $0x0f512172 // smlal v18.4s, v11.4h, v1.h[1]
	WORD $0x4f512173 // smlal2 v19.4s, v11.8h, v1.h[1]
	WORD $0x0f522174 // smlal v20.4s, v11.4h, v2.h[1]
	WORD $0x4f522175 // smlal2 v21.4s, v11.8h, v2.h[1]
	WORD $0x0f532176 // smlal v22.4s, v11.4h, v3.h[1]
	WORD $0x4f532177 // smlal2 v23.4s, v11.8h, v3.h[1]
	WORD $0x0f542178 // smlal v24.4s, v11.4h, v4.h[1]
	WORD $0x4f542179 // smlal2 v25.4s, v11.8h, v4.h[1]
	WORD $0x0f55217a // smlal v26.4s, v11.4h, v5.h[1]
	WORD $0x4f55217b // smlal2 v27.4s, v11.8h, v5.h[1]
	WORD $0x0f56217c // smlal v28.4s, v11.4h, v6.h[1]
	WORD $0x4f56217d // smlal2 v29.4s, v11.8h, v6.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f612152 // smlal v18.4s, v10.4h, v1.h[2]
	WORD $0x4f612153 // smlal2 v19.4s, v10.8h, v1.h[2]
	WORD $0x0f622154 // smlal v20.4s, v10.4h, v2.h[2]
	WORD $0x4f622155 // smlal2 v21.4s, v10.8h, v2.h[2]
	WORD $0x0f632156 // smlal v22.4s, v10.4h, v3.h[2]
	WORD $0x4f632157 // smlal2 v23.4s, v10.8h, v3.h[2]
	WORD $0x0f642158 // smlal v24.4s, v10.4h, v4.h[2]
	WORD $0x4f642159 // smlal2 v25.4s, v10.8h, v4.h[2]
	WORD $0x0f65215a // smlal v26.4s, v10.4h, v5.h[2]
	WORD $0x4f65215b // smlal2 v27.4s, v10.8h, v5.h[2]
	WORD $0x0f66215c // smlal v28.4s, v10.4h, v6.h[2]
	WORD $0x4f66215d // smlal2 v29.4s, v10.8h, v6.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	WORD $0x0f712172 // smlal v18.4s, v11.4h, v1.h[3]
	WORD $0x4f712173 // smlal2 v19.4s, v11.8h, v1.h[3]
	WORD $0x0f722174 // smlal v20.4s, v11.4h, v2.h[3]
	WORD $0x4f722175 // smlal2 v21.4s, v11.8h, v2.h[3]
	WORD $0x0f732176 // smlal v22.4s, v11.4h, v3.h[3]
	WORD $0x4f732177 // smlal2 v23.4s, v11.8h, v3.h[3]
	WORD $0x0f742178 // smlal v24.4s, v11.4h, v4.h[3]
	WORD $0x4f742179 // smlal2 v25.4s, v11.8h, v4.h[3]
	WORD $0x0f75217a // smlal v26.4s, v11.4h, v5.h[3]
	WORD $0x4f75217b // smlal2 v27.4s, v11.8h, v5.h[3]
	WORD $0x0f76217c // smlal v28.4s, v11.4h, v6.h[3]
	WORD $0x4f76217d // smlal2 v29.4s, v11.8h, v6.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f412952 // smlal v18.4s, v10.4h, v1.h[4]
	WORD $0x4f412953 // smlal2 v19.4s, v10.8h, v1.h[4]
	WORD $0x0f422954 // smlal v20.4s, v10.4h, v2.h[4]
	WORD $0x4f422955 // smlal2 v21.4s, v10.8h, v2.h[4]
	WORD $0x0f432956 // smlal v22.4s, v10.4h, v3.h[4]
	WORD $0x4f432957 // smlal2 v23.4s, v10.8h, v3.h[4]
	WORD $0x0f442958 // smlal v24.4s, v10.4h, v4.h[4]
	WORD $0x4f442959 // smlal2 v25.4s, v10.8h, v4.h[4]
	WORD $0x0f45295a // smlal v26.4s, v10.4h, v5.h[4]
	WORD $0x4f45295b // smlal2 v27.4s, v10.8h, v5.h[4]
	WORD $0x0f46295c // smlal v28.4s, v10.4h, v6.h[4]
	WORD $0x4f46295d // smlal2 v29.4s, v10.8h, v6.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	WORD $0x0f512972 // smlal v18.4s, v11.4h, v1.h[5]
	WORD $0x4f512973 // smlal2 v19.4s, v11.8h, v1.h[5]
	WORD $0x0f522974 // smlal v20.4s, v11.4h, v2.h[5]
	WORD $0x4f522975 // smlal2 v21.4s, v11.8h, v2.h[5]
	WORD $0x0f532976 // smlal v22.4s, v11.4h, v3.h[5]
	WORD $0x4f532977 // smlal2 v23.4s, v11.8h, v3.h[5]
	WORD $0x0f542978 // smlal v24.4s, v11.4h, v4.h[5]
	WORD $0x4f542979 // smlal2 v25.4s, v11.8h, v4.h[5]
	WORD $0x0f55297a // smlal v26.4s, v11.4h, v5.h[5]
	WORD $0x4f55297b // smlal2 v27.4s, v11.8h, v5.h[5]
	WORD $0x0f56297c // smlal v28.4s, v11.4h, v6.h[5]
	WORD $0x4f56297d // smlal2 v29.4s, v11.8h, v6.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f612952 // smlal v18.4s, v10.4h, v1.h[6]
	WORD $0x4f612953 // smlal2 v19.4s, v10.8h, v1.h[6]
	WORD $0x0f622954 // smlal v20.4s, v10.4h, v2.h[6]
	WORD $0x4f622955 // smlal2 v21.4s, v10.8h, v2.h[6]
	WORD $0x0f632956 // smlal v22.4s, v10.4h, v3.h[6]
	WORD $0x4f632957 // smlal2 v23.4s, v10.8h, v3.h[6]
	WORD $0x0f642958 // smlal v24.4s, v10.4h, v4.h[6]
	WORD $0x4f642959 // smlal2 v25.4s, v10.8h, v4.h[6]
	WORD $0x0f65295a // smlal v26.4s, v10.4h, v5.h[6]
	WORD $0x4f65295b // smlal2 v27.4s, v10.8h, v5.h[6]
	WORD $0x0f66295c // smlal v28.4s, v10.4h, v6.h[6]
	WORD $0x4f66295d // smlal2 v29.4s, v10.8h, v6.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	WORD $0x0f712972 // smlal v18.4s, v11.4h, v1.h[7]
	WORD $0x4f712973 // smlal2 v19.4s, v11.8h, v1.h[7]
	WORD $0x0f722974 // smlal v20.4s, v11.4h, v2.h[7]
	WORD $0x4f722975 // smlal2 v21.4s, v11.8h, v2.h[7]
	WORD $0x0f732976 // smlal v22.4s, v11.4h, v3.h[7]
	WORD $0x4f732977 // smlal2 v23.4s, v11.8h, v3.h[7]
	WORD $0x0f742978 // smlal v24.4s, v11.4h, v4.h[7]
	WORD $0x4f742979 // smlal2 v25.4s, v11.8h, v4.h[7]
	WORD $0x0f75297a // smlal v26.4s, v11.4h, v5.h[7]
	WORD $0x4f75297b // smlal2 v27.4s, v11.8h, v5.h[7]
	WORD $0x0f76297c // smlal v28.4s, v11.4h, v6.h[7]
	WORD $0x4f76297d // smlal2 v29.4s, v11.8h, v6.h[7]
	SUBS $1, R12
	BNE step14
	MOVD R14, R2
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	FSTPQ (F18, F19), (R2)
	ADD R15, R2
	FSTPQ (F20, F21), (R2)
	ADD R15, R2
	FSTPQ (F22, F23), (R2)
	ADD R15, R2
	FSTPQ (F24, F25), (R2)
	ADD R15, R2
	FSTPQ (F26, F27), (R2)
	ADD R15, R2
	FSTPQ (F28, F29), (R2)
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
	WORD $0x6e301e10 // eor v16.16b, v16.16b, v16.16b
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	WORD $0x6e321e52 // eor v18.16b, v18.16b, v18.16b
	WORD $0x6e331e73 // eor v19.16b, v19.16b, v19.16b
	WORD $0x6e341e94 // eor v20.16b, v20.16b, v20.16b
	WORD $0x6e351eb5 // eor v21.16b, v21.16b, v21.16b
	WORD $0x6e361ed6 // eor v22.16b, v22.16b, v22.16b
	WORD $0x6e371ef7 // eor v23.16b, v23.16b, v23.16b
	WORD $0x6e381f18 // eor v24.16b, v24.16b, v24.16b
	WORD $0x6e391f39 // eor v25.16b, v25.16b, v25.16b
	WORD $0x6e3a1f5a // eor v26.16b, v26.16b, v26.16b
	WORD $0x6e3b1f7b // eor v27.16b, v27.16b, v27.16b
	WORD $0x6e3c1f9c // eor v28.16b, v28.16b, v28.16b
	WORD $0x6e3d1fbd // eor v29.16b, v29.16b, v29.16b
	WORD $0x6e3e1fde // eor v30.16b, v30.16b, v30.16b
	WORD $0x6e3f1fff // eor v31.16b, v31.16b, v31.16b
step16:
	FMOVQ.P 16(R2), F0
	FMOVQ.P 16(R3), F1
	FMOVQ.P 16(R4), F2
	FMOVQ.P 16(R5), F3
	FMOVQ.P 16(R6), F4
	FMOVQ.P 16(R7), F5
	FMOVQ.P 16(R8), F6
	FMOVQ.P 16(R9), F7
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402150 // smlal v16.4s, v10.4h, v0.h[0]
	WORD $0x4f402151 // smlal2 v17.4s, v10.8h, v0.h[0]
	WORD $0x0f412152 // smlal v18.4s, v10.4h, v1.h[0]
	WORD $0x4f412153 // smlal2 v19.4s, v10.8h, v1.h[0]
	WORD $0x0f422154 // smlal v20.4s, v10.4h, v2.h[0]
	WORD $0x4f422155 // smlal2 v21.4s, v10.8h, v2.h[0]
	WORD $0x0f432156 // smlal v22.4s, v10.4h, v3.h[0]
	WORD $0x4f432157 // smlal2 v23.4s, v10.8h, v3.h[0]
	WORD $0x0f442158 // smlal v24.4s, v10.4h, v4.h[0]
	WORD $0x4f442159 // smlal2 v25.4s, v10.8h, v4.h[0]
	WORD $0x0f45215a // smlal v26.4s, v10.4h, v5.h[0]
	WORD $0x4f45215b // smlal2 v27.4s, v10.8h, v5.h[0]
	WORD $0x0f46215c // smlal v28.4s, v10.4h, v6.h[0]
	WORD $0x4f46215d // smlal2 v29.4s, v10.8h, v6.h[0]
	WORD $0x0f47215e // smlal v30.4s, v10.4h, v7.h[0]
	WORD $0x4f47215f // smlal2 v31.4s, v10.8h, v7.h[0]
	WORD $0x0f502170 // smlal v16.4s, v11.4h, v0.h[1]
	WORD $0x4f502171 // smlal2 v17.4s, v11.8h, v0.h[1]
	WORD $0x0f512172 // smlal v18.4s, v11.4h, v1.h[1]
	WORD $0x4f512173 // smlal2 v19.4s, v11.8h, v1.h[1]
	WORD $0x0f522174 // smlal v20.4s, v11.4h, v2.h[1]
	WORD $0x4f522175 // smlal2 v21.4s, v11.8h, v2.h[1]
	WORD $0x0f532176 // smlal v22.4s, v11.4h, v3.h[1]
	WORD $0x4f532177 // smlal2 v23.4s, v11.8h, v3.h[1]
	WORD $0x0f542178 // smlal v24.4s, v11.4h, v4.h[1]
	WORD $0x4f542179 // smlal2 v25.4s, v11.8h, v4.h[1]
	WORD $0x0f55217a // smlal v26.4s, v11.4h, v5.h[1]
	WORD $0x4f55217b // smlal2 v27.4s, v11.8h, v5.h[1]
	WORD $0x0f56217c // smlal v28.4s, v11.4h, v6.h[1]
	WORD $0x4f56217d // smlal2 v29.4s, v11.8h, v6.h[1]
	WORD $0x0f57217e // smlal v30.4s, v11.4h, v7.h[1]
	WORD $0x4f57217f // smlal2 v31.4s, v11.8h, v7.h[1]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602150 // smlal v16.4s, v10.4h, v0.h[2]
	WORD $0x4f602151 // smlal2 v17.4s, v10.8h, v0.h[2]
	WORD $0x0f612152 // smlal v18.4s, v10.4h, v1.h[2]
	WORD $0x4f612153 // smlal2 v19.4s, v10.8h, v1.h[2]
	WORD $0x0f622154 // smlal v20.4s, v10.4h, v2.h[2]
	WORD $0x4f622155 // smlal2 v21.4s, v10.8h, v2.h[2]
	WORD $0x0f632156 // smlal v22.4s, v10.4h, v3.h[2]
	WORD $0x4f632157 // smlal2 v23.4s, v10.8h, v3.h[2]
	WORD $0x0f642158 // smlal v24.4s, v10.4h, v4.h[2]
	WORD $0x4f642159 // smlal2 v25.4s, v10.8h, v4.h[2]
	WORD $0x0f65215a // smlal v26.4s, v10.4h, v5.h[2]
	WORD $0x4f65215b // smlal2 v27.4s, v10.8h, v5.h[2]
	WORD $0x0f66215c // smlal v28.4s, v10.4h, v6.h[2]
	WORD $0x4f66215d // smlal2 v29.4s, v10.8h, v6.h[2]
	WORD $0x0f67215e // smlal v30.4s, v10.4h, v7.h[2]
	WORD $0x4f67215f // smlal2 v31.4s, v10.8h, v7.h[2]
	WORD $0x0f702170 // smlal v16.4s, v11.4h, v0.h[3]
	WORD $0x4f702171 // smlal2 v17.4s, v11.8h, v0.h[3]
	WORD $0x0f712172 // smlal v18.4s, v11.4h, v1.h[3]
	WORD $0x4f712173 // smlal2 v19.4s, v11.8h, v1.h[3]
	WORD $0x0f722174 // smlal v20.4s, v11.4h, v2.h[3]
	WORD $0x4f722175 // smlal2 v21.4s, v11.8h, v2.h[3]
	WORD $0x0f732176 // smlal v22.4s, v11.4h, v3.h[3]
	WORD $0x4f732177 // smlal2 v23.4s, v11.8h, v3.h[3]
	WORD $0x0f742178 // smlal v24.4s, v11.4h, v4.h[3]
	WORD $0x4f742179 // smlal2 v25.4s, v11.8h, v4.h[3]
	WORD $0x0f75217a // smlal v26.4s, v11.4h, v5.h[3]
	WORD $0x4f75217b // smlal2 v27.4s, v11.8h, v5.h[3]
	WORD $0x0f76217c // smlal v28.4s, v11.4h, v6.h[3]
	WORD $0x4f76217d // smlal2 v29.4s, v11.8h, v6.h[3]
	WORD $0x0f77217e // smlal v30.4s, v11.4h, v7.h[3]
	WORD $0x4f77217f // smlal2 v31.4s, v11.8h, v7.h[3]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f402950 // smlal v16.4s, v10.4h, v0.h[4]
	WORD $0x4f402951 // smlal2 v17.4s, v10.8h, v0.h[4]
	WORD $0x0f412952 // smlal v18.4s, v10.4h, v1.h[4]
	WORD $0x4f412953 // smlal2 v19.4s, v10.8h, v1.h[4]
	WORD $0x0f422954 // smlal v20.4s, v10.4h, v2.h[4]
	WORD $0x4f422955 // smlal2 v21.4s, v10.8h, v2.h[4]
	WORD $0x0f432956 // smlal v22.4s, v10.4h, v3.h[4]
	WORD $0x4f432957 // smlal2 v23.4s, v10.8h, v3.h[4]
	WORD $0x0f442958 // smlal v24.4s, v10.4h, v4.h[4]
	WORD $0x4f442959 // smlal2 v25.4s, v10.8h, v4.h[4]
	WORD $0x0f45295a // smlal v26.4s, v10.4h, v5.h[4]
	WORD $0x4f45295b // smlal2 v27.4s, v10.8h, v5.h[4]
	WORD $0x0f46295c // smlal v28.4s, v10.4h, v6.h[4]
	WORD $0x4f46295d // smlal2 v29.4s, v10.8h, v6.h[4]
	WORD $0x0f47295e // smlal v30.4s, v10.4h, v7.h[4]
	WORD $0x4f47295f // smlal2 v31.4s, v10.8h, v7.h[4]
	WORD $0x0f502970 // smlal v16.4s, v11.4h, v0.h[5]
	WORD $0x4f502971 // smlal2 v17.4s, v11.8h, v0.h[5]
	WORD $0x0f512972 // smlal v18.4s, v11.4h, v1.h[5]
	WORD $0x4f512973 // smlal2 v19.4s, v11.8h, v1.h[5]
	WORD $0x0f522974 // smlal v20.4s, v11.4h, v2.h[5]
	WORD $0x4f522975 // smlal2 v21.4s, v11.8h, v2.h[5]
	WORD $0x0f532976 // smlal v22.4s, v11.4h, v3.h[5]
	WORD $0x4f532977 // smlal2 v23.4s, v11.8h, v3.h[5]
	WORD $0x0f542978 // smlal v24.4s, v11.4h, v4.h[5]
	WORD $0x4f542979 // smlal2 v25.4s, v11.8h, v4.h[5]
	WORD $0x0f55297a // smlal v26.4s, v11.4h, v5.h[5]
	WORD $0x4f55297b // smlal2 v27.4s, v11.8h, v5.h[5]
	WORD $0x0f56297c // smlal v28.4s, v11.4h, v6.h[5]
	WORD $0x4f56297d // smlal2 v29.4s, v11.8h, v6.h[5]
	WORD $0x0f57297e // smlal v30.4s, v11.4h, v7.h[5]
	WORD $0x4f57297f // smlal2 v31.4s, v11.8h, v7.h[5]
	FLDPQ (R10), (F8, F9)
	ADD R11, R10
	WORD $0x4e49190a // uzp1 v10.8h, v8.8h, v9.8h
	WORD $0x4e49590b // uzp2 v11.8h, v8.8h, v9.8h
	WORD $0x0f602950 // smlal v16.4s, v10.4h, v0.h[6]
	WORD $0x4f602951 // smlal2 v17.4s, v10.8h, v0.h[6]
	WORD $0x0f612952 // smlal v18.4s, v10.4h, v1.h[6]
	WORD $0x4f612953 // smlal2 v19.4s, v10.8h, v1.h[6]
	WORD $0x0f622954 // smlal v20.4s, v10.4h, v2.h[6]
	WORD $0x4f622955 // smlal2 v21.4s, v10.8h, v2.h[6]
	WORD $0x0f632956 // smlal v22.4s, v10.4h, v3.h[6]
	WORD $0x4f632957 // smlal2 v23.4s, v10.8h, v3.h[6]
	WORD $0x0f642958 // smlal v24.4s, v10.4h, v4.h[6]
	WORD $0x4f642959 // smlal2 v25.4s, v10.8h, v4.h[6]
	WORD $0x0f65295a // smlal v26.4s, v10.4h, v5.h[6]
	WORD $0x4f65295b // smlal2 v27.4s, v10.8h, v5.h[6]
	WORD $0x0f66295c // smlal v28.4s, v10.4h, v6.h[6]
	WORD $0x4f66295d // smlal2 v29.4s, v10.8h, v6.h[6]
	WORD $0x0f67295e // smlal v30.4s, v10.4h, v7.h[6]
	WORD $0x4f67295f // smlal2 v31.4s, v10.8h, v7.h[6]
	WORD $0x0f702970 // smlal v16.4s, v11.4h, v0.h[7]
	WORD $0x4f702971 // smlal2 v17.4s, v11.8h, v0.h[7]
	WORD $0x0f712972 // smlal v18.4s, v11.4h, v1.h[7]
	WORD $0x4f712973 // smlal2 v19.4s, v11.8h, v1.h[7]
	WORD $0x0f722974 // smlal v20.4s, v11.4h, v2.h[7]
	WORD $0x4f722975 // smlal2 v21.4s, v11.8h, v2.h[7]
	WORD $0x0f732976 // smlal v22.4s, v11.4h, v3.h[7]
	WORD $0x4f732977 // smlal2 v23.4s, v11.8h, v3.h[7]
	WORD $0x0f742978 // smlal v24.4s, v11.4h, v4.h[7]
	WORD $0x4f742979 // smlal2 v25.4s, v11.8h, v4.h[7]
	WORD $0x0f75297a // smlal v26.4s, v11.4h, v5.h[7]
	WORD $0x4f75297b // smlal2 v27.4s, v11.8h, v5.h[7]
	WORD $0x0f76297c // smlal v28.4s, v11.4h, v6.h[7]
	WORD $0x4f76297d // smlal2 v29.4s, v11.8h, v6.h[7]
	WORD $0x0f77297e // smlal v30.4s, v11.4h, v7.h[7]
	WORD $0x4f77297f // smlal2 v31.4s, v11.8h, v7.h[7]
	SUBS $1, R12
	BNE step16
	MOVD R14, R2
	FSTPQ (F16, F17), (R2)
	ADD R15, R2
	FSTPQ (F18, F19), (R2)
	ADD R15, R2
	FSTPQ (F20, F21), (R2)
	ADD R15, R2
	FSTPQ (F22, F23), (R2)
	ADD R15, R2
	FSTPQ (F24, F25), (R2)
	ADD R15, R2
	FSTPQ (F26, F27), (R2)
	ADD R15, R2
	FSTPQ (F28, F29), (R2)
	ADD R15, R2
	FSTPQ (F30, F31), (R2)
	ADD $32, R14
	ADD $32, R20
	SUBS $1, R13
	BNE columns15
	RET

// func quantiseNEON(dst []byte, x []float32, smooth []float32) (scale float32, zero int32)
TEXT ·quantiseNEON(SB), NOSPLIT, $0-80
	MOVD dst_base+0(FP), R1
	MOVD x_base+24(FP), R2
	MOVD smooth_base+48(FP), R3
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
	MOVD x_len+32(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F16
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x6e3fde10 // fmul v16.4s, v16.4s, v31.4s
	WORD $0x4eb0f400 // fmin v0.4s, v0.4s, v16.4s
	WORD $0x4e30f508 // fmax v8.4s, v8.4s, v16.4s
	FMOVQ 16(R10), F17
	FMOVQ 16(R11), F31
	WORD $0x6e3fde31 // fmul v17.4s, v17.4s, v31.4s
	WORD $0x4eb1f421 // fmin v1.4s, v1.4s, v17.4s
	WORD $0x4e31f529 // fmax v9.4s, v9.4s, v17.4s
	FMOVQ 32(R10), F18
	FMOVQ 32(R11), F31
	WORD $0x6e3fde52 // fmul v18.4s, v18.4s, v31.4s
	WORD $0x4eb2f442 // fmin v2.4s, v2.4s, v18.4s
	WORD $0x4e32f54a // fmax v10.4s, v10.4s, v18.4s
	FMOVQ 48(R10), F19
	FMOVQ 48(R11), F31
	WORD $0x6e3fde73 // fmul v19.4s, v19.4s, v31.4s
	WORD $0x4eb3f463 // fmin v3.4s, v3.4s, v19.4s
	WORD $0x4e33f56b // fmax v11.4s, v11.4s, v19.4s
	FMOVQ 64(R10), F20
	FMOVQ 64(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4eb4f484 // fmin v4.4s, v4.4s, v20.4s
	WORD $0x4e34f58c // fmax v12.4s, v12.4s, v20.4s
	FMOVQ 80(R10), F21
	FMOVQ 80(R11), F31
	WORD $0x6e3fdeb5 // fmul v21.4s, v21.4s, v31.4s
	WORD $0x4eb5f4a5 // fmin v5.4s, v5.4s, v21.4s
	WORD $0x4e35f5ad // fmax v13.4s, v13.4s, v21.4s
	FMOVQ 96(R10), F22
	FMOVQ 96(R11), F31
	WORD $0x6e3fded6 // fmul v22.4s, v22.4s, v31.4s
	WORD $0x4eb6f4c6 // fmin v6.4s, v6.4s, v22.4s
	WORD $0x4e36f5ce // fmax v14.4s, v14.4s, v22.4s
	FMOVQ 112(R10), F23
	FMOVQ 112(R11), F31
	WORD $0x6e3fdef7 // fmul v23.4s, v23.4s, v31.4s
	WORD $0x4eb7f4e7 // fmin v7.4s, v7.4s, v23.4s
	WORD $0x4e37f5ef // fmax v15.4s, v15.4s, v23.4s
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	WORD $0x4ea4f400 // fmin v0.4s, v0.4s, v4.4s
	WORD $0x4ea5f421 // fmin v1.4s, v1.4s, v5.4s
	WORD $0x4ea6f442 // fmin v2.4s, v2.4s, v6.4s
	WORD $0x4ea7f463 // fmin v3.4s, v3.4s, v7.4s
	WORD $0x4ea2f400 // fmin v0.4s, v0.4s, v2.4s
	WORD $0x4ea3f421 // fmin v1.4s, v1.4s, v3.4s
	WORD $0x4ea1f400 // fmin v0.4s, v0.4s, v1.4s
	WORD $0x6e004010 // ext v16.16b, v0.16b, v0.16b, #8
	WORD $0x4eb0f400 // fmin v0.4s, v0.4s, v16.4s
	WORD $0x4e0c0410 // dup v16.4s, v0.s[1]
	WORD $0x4eb0f400 // fmin v0.4s, v0.4s, v16.4s
	WORD $0x4e2cf508 // fmax v8.4s, v8.4s, v12.4s
	WORD $0x4e2df529 // fmax v9.4s, v9.4s, v13.4s
	WORD $0x4e2ef54a // fmax v10.4s, v10.4s, v14.4s
	WORD $0x4e2ff56b // fmax v11.4s, v11.4s, v15.4s
	WORD $0x4e2af508 // fmax v8.4s, v8.4s, v10.4s
	WORD $0x4e2bf529 // fmax v9.4s, v9.4s, v11.4s
	WORD $0x4e29f508 // fmax v8.4s, v8.4s, v9.4s
	WORD $0x6e084110 // ext v16.16b, v8.16b, v8.16b, #8
	WORD $0x4e30f508 // fmax v8.4s, v8.4s, v16.4s
	WORD $0x4e0c0510 // dup v16.4s, v8.s[1]
	WORD $0x4e30f508 // fmax v8.4s, v8.4s, v16.4s
	FSUBS F0, F8, F16
	WORD $0x6e311e31 // eor v17.16b, v17.16b, v17.16b
	MOVD ZR, R0
	FMOVS F17, scale+72(FP)
	MOVD $0x0da24260, R20
	VDUP R20, V18.S4
	FCMPS F18, F16
	BLE flat
	MOVD $0x437f0000, R20
	VDUP R20, V8.S4
	FDIVS F16, F8, F17
	FDIVS F8, F16, F16
	FMOVS F16, scale+72(FP)
	FMULS F17, F0, F0
	FRINTNS F0, F0
	FCVTZSSW F0, R0
flat:
	NEG R0, R0
	SUB $128, R0
	MOVW R0, zero+76(FP)
	WORD $0x4e040631 // dup v17.4s, v17.s[0]
	VDUP R0, V18.S4
	MOVD $0xffffff80, R20
	VDUP R20, V0.S4
	MOVD $0x0000007f, R20
	VDUP R20, V1.S4
	MOVD x_len+32(FP), R19
	MOVD ZR, R0
	B check4
block3:
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F2
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x6e3fdc42 // fmul v2.4s, v2.4s, v31.4s
	WORD $0x6e31dc42 // fmul v2.4s, v2.4s, v17.4s
	WORD $0x4e21a842 // fcvtns v2.4s, v2.4s
	WORD $0x4eb28442 // add v2.4s, v2.4s, v18.4s
	WORD $0x4ea06442 // smax v2.4s, v2.4s, v0.4s
	WORD $0x4ea16c42 // smin v2.4s, v2.4s, v1.4s
	FMOVQ 16(R10), F3
	FMOVQ 16(R11), F31
	WORD $0x6e3fdc63 // fmul v3.4s, v3.4s, v31.4s
	WORD $0x6e31dc63 // fmul v3.4s, v3.4s, v17.4s
	WORD $0x4e21a863 // fcvtns v3.4s, v3.4s
	WORD $0x4eb28463 // add v3.4s, v3.4s, v18.4s
	WORD $0x4ea06463 // smax v3.4s, v3.4s, v0.4s
	WORD $0x4ea16c63 // smin v3.4s, v3.4s, v1.4s
	FMOVQ 32(R10), F4
	FMOVQ 32(R11), F31
	WORD $0x6e3fdc84 // fmul v4.4s, v4.4s, v31.4s
	WORD $0x6e31dc84 // fmul v4.4s, v4.4s, v17.4s
	WORD $0x4e21a884 // fcvtns v4.4s, v4.4s
	WORD $0x4eb28484 // add v4.4s, v4.4s, v18.4s
	WORD $0x4ea06484 // smax v4.4s, v4.4s, v0.4s
	WORD $0x4ea16c84 // smin v4.4s, v4.4s, v1.4s
	FMOVQ 48(R10), F5
	FMOVQ 48(R11), F31
	WORD $0x6e3fdca5 // fmul v5.4s, v5.4s, v31.4s
	WORD $0x6e31dca5 // fmul v5.4s, v5.4s, v17.4s
	WORD $0x4e21a8a5 // fcvtns v5.4s, v5.4s
	WORD $0x4eb284a5 // add v5.4s, v5.4s, v18.4s
	WORD $0x4ea064a5 // smax v5.4s, v5.4s, v0.4s
	WORD $0x4ea16ca5 // smin v5.4s, v5.4s, v1.4s
	FMOVQ 64(R10), F6
	FMOVQ 64(R11), F31
	WORD $0x6e3fdcc6 // fmul v6.4s, v6.4s, v31.4s
	WORD $0x6e31dcc6 // fmul v6.4s, v6.4s, v17.4s
	WORD $0x4e21a8c6 // fcvtns v6.4s, v6.4s
	WORD $0x4eb284c6 // add v6.4s, v6.4s, v18.4s
	WORD $0x4ea064c6 // smax v6.4s, v6.4s, v0.4s
	WORD $0x4ea16cc6 // smin v6.4s, v6.4s, v1.4s
	FMOVQ 80(R10), F7
	FMOVQ 80(R11), F31
	WORD $0x6e3fdce7 // fmul v7.4s, v7.4s, v31.4s
	WORD $0x6e31dce7 // fmul v7.4s, v7.4s, v17.4s
	WORD $0x4e21a8e7 // fcvtns v7.4s, v7.4s
	WORD $0x4eb284e7 // add v7.4s, v7.4s, v18.4s
	WORD $0x4ea064e7 // smax v7.4s, v7.4s, v0.4s
	WORD $0x4ea16ce7 // smin v7.4s, v7.4s, v1.4s
	FMOVQ 96(R10), F8
	FMOVQ 96(R11), F31
	WORD $0x6e3fdd08 // fmul v8.4s, v8.4s, v31.4s
	WORD $0x6e31dd08 // fmul v8.4s, v8.4s, v17.4s
	WORD $0x4e21a908 // fcvtns v8.4s, v8.4s
	WORD $0x4eb28508 // add v8.4s, v8.4s, v18.4s
	WORD $0x4ea06508 // smax v8.4s, v8.4s, v0.4s
	WORD $0x4ea16d08 // smin v8.4s, v8.4s, v1.4s
	FMOVQ 112(R10), F9
	FMOVQ 112(R11), F31
	WORD $0x6e3fdd29 // fmul v9.4s, v9.4s, v31.4s
	WORD $0x6e31dd29 // fmul v9.4s, v9.4s, v17.4s
	WORD $0x4e21a929 // fcvtns v9.4s, v9.4s
	WORD $0x4eb28529 // add v9.4s, v9.4s, v18.4s
	WORD $0x4ea06529 // smax v9.4s, v9.4s, v0.4s
	WORD $0x4ea16d29 // smin v9.4s, v9.4s, v1.4s
	WORD $0x4e431842 // uzp1 v2.8h, v2.8h, v3.8h
	WORD $0x4e451884 // uzp1 v4.8h, v4.8h, v5.8h
	WORD $0x4e4718c6 // uzp1 v6.8h, v6.8h, v7.8h
	WORD $0x4e491908 // uzp1 v8.8h, v8.8h, v9.8h
	WORD $0x4e041842 // uzp1 v2.16b, v2.16b, v4.16b
	WORD $0x4e0818c6 // uzp1 v6.16b, v6.16b, v8.16b
	ADD R0<<0, R1, R9
	FMOVQ F2, 0(R9)
	FMOVQ F6, 16(R9)
	ADD $32, R0
check4:
	CMP R19, R0
	BLT block3
	RET

// func dequantiseNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)
TEXT ·dequantiseNEON(SB), NOSPLIT, $0-64
	MOVD dst_base+0(FP), R1
	MOVD acc_base+24(FP), R2
	MOVD cols+48(FP), R3
	MOVD 0(R3), R3
	MOVD cols+48(FP), R4
	MOVD 24(R4), R4
	MOVD cols+48(FP), R5
	MOVD 48(R5), R5
	FMOVS scale+56(FP), F0
	WORD $0x4e040400 // dup v0.4s, v0.s[0]
	FMOVS zero+60(FP), F1
	WORD $0x4e040421 // dup v1.4s, v1.s[0]
	MOVD dst_len+8(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	ADD R0<<2, R4, R12
	FMOVQ 0(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	ADD R0<<2, R5, R13
	FMOVQ 0(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	ADD R0<<2, R1, R9
	FMOVQ F2, 0(R9)
	FMOVQ 16(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 16(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 16(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 16(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 16(R9)
	FMOVQ 32(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 32(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 32(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 32(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 32(R9)
	FMOVQ 48(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 48(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 48(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 48(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 48(R9)
	FMOVQ 64(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 64(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 64(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 64(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 64(R9)
	FMOVQ 80(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 80(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 80(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 80(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 80(R9)
	FMOVQ 96(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 96(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 96(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 96(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 96(R9)
	FMOVQ 112(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 112(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 112(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 112(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 112(R9)
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	RET

// func dequantiseAddNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)
TEXT ·dequantiseAddNEON(SB), NOSPLIT, $0-64
	MOVD dst_base+0(FP), R1
	MOVD acc_base+24(FP), R2
	MOVD cols+48(FP), R3
	MOVD 0(R3), R3
	MOVD cols+48(FP), R4
	MOVD 24(R4), R4
	MOVD cols+48(FP), R5
	MOVD 48(R5), R5
	FMOVS scale+56(FP), F0
	WORD $0x4e040400 // dup v0.4s, v0.s[0]
	FMOVS zero+60(FP), F1
	WORD $0x4e040421 // dup v1.4s, v1.s[0]
	MOVD dst_len+8(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	ADD R0<<2, R4, R12
	FMOVQ 0(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	ADD R0<<2, R5, R13
	FMOVQ 0(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	ADD R0<<2, R1, R9
	FMOVQ 0(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 0(R9)
	FMOVQ 16(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 16(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 16(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 16(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 16(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 16(R9)
	FMOVQ 32(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 32(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 32(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 32(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 32(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 32(R9)
	FMOVQ 48(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 48(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 48(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 48(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 48(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 48(R9)
	FMOVQ 64(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 64(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 64(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 64(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 64(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 64(R9)
	FMOVQ 80(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 80(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 80(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 80(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 80(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 80(R9)
	FMOVQ 96(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 96(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 96(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 96(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 96(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 96(R9)
	FMOVQ 112(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 112(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 112(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 112(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 112(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ F2, 112(R9)
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	RET

// func dequantiseGELUNEON(dst []float32, acc []int32, cols *Columns, scale float32, zero int32)
TEXT ·dequantiseGELUNEON(SB), NOSPLIT, $0-64
	MOVD dst_base+0(FP), R1
	MOVD acc_base+24(FP), R2
	MOVD cols+48(FP), R3
	MOVD 0(R3), R3
	MOVD cols+48(FP), R4
	MOVD 24(R4), R4
	MOVD cols+48(FP), R5
	MOVD 48(R5), R5
	FMOVS scale+56(FP), F0
	WORD $0x4e040400 // dup v0.4s, v0.s[0]
	FMOVS zero+60(FP), F1
	WORD $0x4e040421 // dup v1.4s, v1.s[0]
	MOVD $0x40900000, R20
	VDUP R20, V6.S4
	MOVD $0xc0900000, R20
	VDUP R20, V7.S4
	MOVD $0x3dca4588, R20
	VDUP R20, V8.S4
	MOVD $0x3f800000, R20
	VDUP R20, V9.S4
	MOVD $0x3f000000, R20
	VDUP R20, V10.S4
	MOVD $0x3e20aaec, R20
	VDUP R20, V11.S4
	MOVD $0xbd9e0c9a, R20
	VDUP R20, V12.S4
	MOVD $0x3d608e60, R20
	VDUP R20, V13.S4
	MOVD $0xbd26174b, R20
	VDUP R20, V14.S4
	MOVD $0x3ce21542, R20
	VDUP R20, V15.S4
	MOVD $0xbc894f55, R20
	VDUP R20, V16.S4
	MOVD $0x3c49137d, R20
	VDUP R20, V17.S4
	MOVD $0xbc189f0f, R20
	VDUP R20, V18.S4
	MOVD $0x3b592d13, R20
	VDUP R20, V19.S4
	MOVD dst_len+8(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	ADD R0<<2, R4, R12
	FMOVQ 0(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	ADD R0<<2, R5, R13
	FMOVQ 0(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	ADD R0<<2, R1, R9
	FMOVQ F2, 0(R9)
	FMOVQ 16(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 16(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 16(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 16(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	FMOVQ F2, 16(R9)
	FMOVQ 32(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 32(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 32(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 32(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	FMOVQ F2, 32(R9)
	FMOVQ 48(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 48(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 48(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 48(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	FMOVQ F2, 48(R9)
	FMOVQ 64(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 64(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 64(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 64(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	FMOVQ F2, 64(R9)
	FMOVQ 80(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 80(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 80(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 80(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	FMOVQ F2, 80(R9)
	FMOVQ 96(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 96(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 96(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 96(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	FMOVQ F2, 96(R9)
	FMOVQ 112(R11), F31
	WORD $0x4ebf9c23 // mul v3.4s, v1.4s, v31.4s
	FMOVQ 112(R10), F2
	WORD $0x6ea38442 // sub v2.4s, v2.4s, v3.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	FMOVQ 112(R12), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x6e23dc42 // fmul v2.4s, v2.4s, v3.4s
	FMOVQ 112(R13), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	WORD $0x4e27f443 // fmax v3.4s, v2.4s, v7.4s
	WORD $0x4ea6f463 // fmin v3.4s, v3.4s, v6.4s
	WORD $0x6e23dc64 // fmul v4.4s, v3.4s, v3.4s
	WORD $0x6e28dc84 // fmul v4.4s, v4.4s, v8.4s
	WORD $0x4ea9d484 // fsub v4.4s, v4.4s, v9.4s
	WORD $0x6e33dc85 // fmul v5.4s, v4.4s, v19.4s
	WORD $0x4e32d4a5 // fadd v5.4s, v5.4s, v18.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e31d4a5 // fadd v5.4s, v5.4s, v17.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e30d4a5 // fadd v5.4s, v5.4s, v16.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2fd4a5 // fadd v5.4s, v5.4s, v15.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2ed4a5 // fadd v5.4s, v5.4s, v14.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2cd4a5 // fadd v5.4s, v5.4s, v12.4s
	WORD $0x6e24dca5 // fmul v5.4s, v5.4s, v4.4s
	WORD $0x4e2bd4a5 // fadd v5.4s, v5.4s, v11.4s
	WORD $0x6e23dca5 // fmul v5.4s, v5.4s, v3.4s
	WORD $0x4e2ad4a5 // fadd v5.4s, v5.4s, v10.4s
	WORD $0x6e25dc42 // fmul v2.4s, v2.4s, v5.4s
	FMOVQ F2, 112(R9)
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	RET

// func normaliseNEON(x []float32, gamma []float32, beta []float32, epsilon float32)
TEXT ·normaliseNEON(SB), NOSPLIT, $0-76
	MOVD x_base+0(FP), R1
	MOVD gamma_base+24(FP), R2
	MOVD beta_base+48(FP), R3
	MOVD x_len+8(FP), R20
	SCVTFS R20, F17
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	MOVD x_len+8(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R1, R9
	FMOVQ 0(R9), F31
	WORD $0x4e3fd400 // fadd v0.4s, v0.4s, v31.4s
	FMOVQ 16(R9), F31
	WORD $0x4e3fd421 // fadd v1.4s, v1.4s, v31.4s
	FMOVQ 32(R9), F31
	WORD $0x4e3fd442 // fadd v2.4s, v2.4s, v31.4s
	FMOVQ 48(R9), F31
	WORD $0x4e3fd463 // fadd v3.4s, v3.4s, v31.4s
	FMOVQ 64(R9), F31
	WORD $0x4e3fd484 // fadd v4.4s, v4.4s, v31.4s
	FMOVQ 80(R9), F31
	WORD $0x4e3fd4a5 // fadd v5.4s, v5.4s, v31.4s
	FMOVQ 96(R9), F31
	WORD $0x4e3fd4c6 // fadd v6.4s, v6.4s, v31.4s
	FMOVQ 112(R9), F31
	WORD $0x4e3fd4e7 // fadd v7.4s, v7.4s, v31.4s
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	WORD $0x4e24d400 // fadd v0.4s, v0.4s, v4.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s
	WORD $0x4e26d442 // fadd v2.4s, v2.4s, v6.4s
	WORD $0x4e27d463 // fadd v3.4s, v3.4s, v7.4s
	WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	WORD $0x6e004008 // ext v8.16b, v0.16b, v0.16b, #8
	WORD $0x4e28d400 // fadd v0.4s, v0.4s, v8.4s
	WORD $0x4e0c0408 // dup v8.4s, v0.s[1]
	WORD $0x4e28d400 // fadd v0.4s, v0.4s, v8.4s
	FDIVS F17, F0, F0
	WORD $0x4e040410 // dup v16.4s, v0.s[0]
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	MOVD x_len+8(FP), R19
	MOVD ZR, R0
	B check4
block3:
	ADD R0<<2, R1, R9
	FMOVQ 0(R9), F8
	WORD $0x4eb0d508 // fsub v8.4s, v8.4s, v16.4s
	WORD $0x6e28dd08 // fmul v8.4s, v8.4s, v8.4s
	WORD $0x4e28d400 // fadd v0.4s, v0.4s, v8.4s
	FMOVQ 16(R9), F9
	WORD $0x4eb0d529 // fsub v9.4s, v9.4s, v16.4s
	WORD $0x6e29dd29 // fmul v9.4s, v9.4s, v9.4s
	WORD $0x4e29d421 // fadd v1.4s, v1.4s, v9.4s
	FMOVQ 32(R9), F10
	WORD $0x4eb0d54a // fsub v10.4s, v10.4s, v16.4s
	WORD $0x6e2add4a // fmul v10.4s, v10.4s, v10.4s
	WORD $0x4e2ad442 // fadd v2.4s, v2.4s, v10.4s
	FMOVQ 48(R9), F11
	WORD $0x4eb0d56b // fsub v11.4s, v11.4s, v16.4s
	WORD $0x6e2bdd6b // fmul v11.4s, v11.4s, v11.4s
	WORD $0x4e2bd463 // fadd v3.4s, v3.4s, v11.4s
	FMOVQ 64(R9), F12
	WORD $0x4eb0d58c // fsub v12.4s, v12.4s, v16.4s
	WORD $0x6e2cdd8c // fmul v12.4s, v12.4s, v12.4s
	WORD $0x4e2cd484 // fadd v4.4s, v4.4s, v12.4s
	FMOVQ 80(R9), F13
	WORD $0x4eb0d5ad // fsub v13.4s, v13.4s, v16.4s
	WORD $0x6e2dddad // fmul v13.4s, v13.4s, v13.4s
	WORD $0x4e2dd4a5 // fadd v5.4s, v5.4s, v13.4s
	FMOVQ 96(R9), F14
	WORD $0x4eb0d5ce // fsub v14.4s, v14.4s, v16.4s
	WORD $0x6e2eddce // fmul v14.4s, v14.4s, v14.4s
	WORD $0x4e2ed4c6 // fadd v6.4s, v6.4s, v14.4s
	FMOVQ 112(R9), F15
	WORD $0x4eb0d5ef // fsub v15.4s, v15.4s, v16.4s
	WORD $0x6e2fddef // fmul v15.4s, v15.4s, v15.4s
	WORD $0x4e2fd4e7 // fadd v7.4s, v7.4s, v15.4s
	ADD $32, R0
check4:
	CMP R19, R0
	BLT block3
	WORD $0x4e24d400 // fadd v0.4s, v0.4s, v4.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s
	WORD $0x4e26d442 // fadd v2.4s, v2.4s, v6.4s
	WORD $0x4e27d463 // fadd v3.4s, v3.4s, v7.4s
	WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	WORD $0x6e004008 // ext v8.16b, v0.16b, v0.16b, #8
	WORD $0x4e28d400 // fadd v0.4s, v0.4s, v8.4s
	WORD $0x4e0c0408 // dup v8.4s, v0.s[1]
	WORD $0x4e28d400 // fadd v0.4s, v0.4s, v8.4s
	FDIVS F17, F0, F0
	FMOVS epsilon+72(FP), F31
	WORD $0x4e0407ff // dup v31.4s, v31.s[0]
	FADDS F31, F0, F0
	FSQRTS F0, F0
	MOVD $0x3f800000, R20
	VDUP R20, V8.S4
	FDIVS F0, F8, F0
	WORD $0x4e040411 // dup v17.4s, v0.s[0]
	MOVD x_len+8(FP), R19
	MOVD ZR, R0
	B check6
block5:
	ADD R0<<2, R1, R9
	FMOVQ 0(R9), F8
	WORD $0x4eb0d508 // fsub v8.4s, v8.4s, v16.4s
	WORD $0x6e31dd08 // fmul v8.4s, v8.4s, v17.4s
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F31
	WORD $0x6e3fdd08 // fmul v8.4s, v8.4s, v31.4s
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x4e3fd508 // fadd v8.4s, v8.4s, v31.4s
	FMOVQ F8, 0(R9)
	FMOVQ 16(R9), F9
	WORD $0x4eb0d529 // fsub v9.4s, v9.4s, v16.4s
	WORD $0x6e31dd29 // fmul v9.4s, v9.4s, v17.4s
	FMOVQ 16(R10), F31
	WORD $0x6e3fdd29 // fmul v9.4s, v9.4s, v31.4s
	FMOVQ 16(R11), F31
	WORD $0x4e3fd529 // fadd v9.4s, v9.4s, v31.4s
	FMOVQ F9, 16(R9)
	FMOVQ 32(R9), F10
	WORD $0x4eb0d54a // fsub v10.4s, v10.4s, v16.4s
	WORD $0x6e31dd4a // fmul v10.4s, v10.4s, v17.4s
	FMOVQ 32(R10), F31
	WORD $0x6e3fdd4a // fmul v10.4s, v10.4s, v31.4s
	FMOVQ 32(R11), F31
	WORD $0x4e3fd54a // fadd v10.4s, v10.4s, v31.4s
	FMOVQ F10, 32(R9)
	FMOVQ 48(R9), F11
	WORD $0x4eb0d56b // fsub v11.4s, v11.4s, v16.4s
	WORD $0x6e31dd6b // fmul v11.4s, v11.4s, v17.4s
	FMOVQ 48(R10), F31
	WORD $0x6e3fdd6b // fmul v11.4s, v11.4s, v31.4s
	FMOVQ 48(R11), F31
	WORD $0x4e3fd56b // fadd v11.4s, v11.4s, v31.4s
	FMOVQ F11, 48(R9)
	FMOVQ 64(R9), F12
	WORD $0x4eb0d58c // fsub v12.4s, v12.4s, v16.4s
	WORD $0x6e31dd8c // fmul v12.4s, v12.4s, v17.4s
	FMOVQ 64(R10), F31
	WORD $0x6e3fdd8c // fmul v12.4s, v12.4s, v31.4s
	FMOVQ 64(R11), F31
	WORD $0x4e3fd58c // fadd v12.4s, v12.4s, v31.4s
	FMOVQ F12, 64(R9)
	FMOVQ 80(R9), F13
	WORD $0x4eb0d5ad // fsub v13.4s, v13.4s, v16.4s
	WORD $0x6e31ddad // fmul v13.4s, v13.4s, v17.4s
	FMOVQ 80(R10), F31
	WORD $0x6e3fddad // fmul v13.4s, v13.4s, v31.4s
	FMOVQ 80(R11), F31
	WORD $0x4e3fd5ad // fadd v13.4s, v13.4s, v31.4s
	FMOVQ F13, 80(R9)
	FMOVQ 96(R9), F14
	WORD $0x4eb0d5ce // fsub v14.4s, v14.4s, v16.4s
	WORD $0x6e31ddce // fmul v14.4s, v14.4s, v17.4s
	FMOVQ 96(R10), F31
	WORD $0x6e3fddce // fmul v14.4s, v14.4s, v31.4s
	FMOVQ 96(R11), F31
	WORD $0x4e3fd5ce // fadd v14.4s, v14.4s, v31.4s
	FMOVQ F14, 96(R9)
	FMOVQ 112(R9), F15
	WORD $0x4eb0d5ef // fsub v15.4s, v15.4s, v16.4s
	WORD $0x6e31ddef // fmul v15.4s, v15.4s, v17.4s
	FMOVQ 112(R10), F31
	WORD $0x6e3fddef // fmul v15.4s, v15.4s, v31.4s
	FMOVQ 112(R11), F31
	WORD $0x4e3fd5ef // fadd v15.4s, v15.4s, v31.4s
	FMOVQ F15, 112(R9)
	ADD $32, R0
check6:
	CMP R19, R0
	BLT block5
	RET

// func maxAbsNEON(x []float32) (largest float32)
TEXT ·maxAbsNEON(SB), NOSPLIT, $0-28
	MOVD x_base+0(FP), R1
	MOVD $0x7fffffff, R20
	VDUP R20, V16.S4
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	MOVD x_len+8(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R1, R9
	FMOVQ 0(R9), F31
	WORD $0x4e3f1e08 // and v8.16b, v16.16b, v31.16b
	WORD $0x4e28f400 // fmax v0.4s, v0.4s, v8.4s
	FMOVQ 16(R9), F31
	WORD $0x4e3f1e09 // and v9.16b, v16.16b, v31.16b
	WORD $0x4e29f421 // fmax v1.4s, v1.4s, v9.4s
	FMOVQ 32(R9), F31
	WORD $0x4e3f1e0a // and v10.16b, v16.16b, v31.16b
	WORD $0x4e2af442 // fmax v2.4s, v2.4s, v10.4s
	FMOVQ 48(R9), F31
	WORD $0x4e3f1e0b // and v11.16b, v16.16b, v31.16b
	WORD $0x4e2bf463 // fmax v3.4s, v3.4s, v11.4s
	FMOVQ 64(R9), F31
	WORD $0x4e3f1e0c // and v12.16b, v16.16b, v31.16b
	WORD $0x4e2cf484 // fmax v4.4s, v4.4s, v12.4s
	FMOVQ 80(R9), F31
	WORD $0x4e3f1e0d // and v13.16b, v16.16b, v31.16b
	WORD $0x4e2df4a5 // fmax v5.4s, v5.4s, v13.4s
	FMOVQ 96(R9), F31
	WORD $0x4e3f1e0e // and v14.16b, v16.16b, v31.16b
	WORD $0x4e2ef4c6 // fmax v6.4s, v6.4s, v14.4s
	FMOVQ 112(R9), F31
	WORD $0x4e3f1e0f // and v15.16b, v16.16b, v31.16b
	WORD $0x4e2ff4e7 // fmax v7.4s, v7.4s, v15.4s
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	WORD $0x4e24f400 // fmax v0.4s, v0.4s, v4.4s
	WORD $0x4e25f421 // fmax v1.4s, v1.4s, v5.4s
	WORD $0x4e26f442 // fmax v2.4s, v2.4s, v6.4s
	WORD $0x4e27f463 // fmax v3.4s, v3.4s, v7.4s
	WORD $0x4e22f400 // fmax v0.4s, v0.4s, v2.4s
	WORD $0x4e23f421 // fmax v1.4s, v1.4s, v3.4s
	WORD $0x4e21f400 // fmax v0.4s, v0.4s, v1.4s
	WORD $0x6e004008 // ext v8.16b, v0.16b, v0.16b, #8
	WORD $0x4e28f400 // fmax v0.4s, v0.4s, v8.4s
	WORD $0x4e0c0408 // dup v8.4s, v0.s[1]
	WORD $0x4e28f400 // fmax v0.4s, v0.4s, v8.4s
	FMOVS F0, largest+24(FP)
	RET

// func round16NEON(dst []int16, x []float32, inverse float32)
TEXT ·round16NEON(SB), NOSPLIT, $0-52
	MOVD dst_base+0(FP), R1
	MOVD x_base+24(FP), R2
	FMOVS inverse+48(FP), F0
	WORD $0x4e040400 // dup v0.4s, v0.s[0]
	MOVD x_len+32(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F31
	WORD $0x6e3fdc01 // fmul v1.4s, v0.4s, v31.4s
	WORD $0x4e21a821 // fcvtns v1.4s, v1.4s
	FMOVQ 16(R10), F31
	WORD $0x6e3fdc02 // fmul v2.4s, v0.4s, v31.4s
	WORD $0x4e21a842 // fcvtns v2.4s, v2.4s
	FMOVQ 32(R10), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x4e21a863 // fcvtns v3.4s, v3.4s
	FMOVQ 48(R10), F31
	WORD $0x6e3fdc04 // fmul v4.4s, v0.4s, v31.4s
	WORD $0x4e21a884 // fcvtns v4.4s, v4.4s
	FMOVQ 64(R10), F31
	WORD $0x6e3fdc05 // fmul v5.4s, v0.4s, v31.4s
	WORD $0x4e21a8a5 // fcvtns v5.4s, v5.4s
	FMOVQ 80(R10), F31
	WORD $0x6e3fdc06 // fmul v6.4s, v0.4s, v31.4s
	WORD $0x4e21a8c6 // fcvtns v6.4s, v6.4s
	FMOVQ 96(R10), F31
	WORD $0x6e3fdc07 // fmul v7.4s, v0.4s, v31.4s
	WORD $0x4e21a8e7 // fcvtns v7.4s, v7.4s
	FMOVQ 112(R10), F31
	WORD $0x6e3fdc08 // fmul v8.4s, v0.4s, v31.4s
	WORD $0x4e21a908 // fcvtns v8.4s, v8.4s
	WORD $0x4e421821 // uzp1 v1.8h, v1.8h, v2.8h
	WORD $0x4e441863 // uzp1 v3.8h, v3.8h, v4.8h
	WORD $0x4e4618a5 // uzp1 v5.8h, v5.8h, v6.8h
	WORD $0x4e4818e7 // uzp1 v7.8h, v7.8h, v8.8h
	ADD R0<<1, R1, R9
	FMOVQ F1, 0(R9)
	FMOVQ F3, 16(R9)
	FMOVQ F5, 32(R9)
	FMOVQ F7, 48(R9)
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	RET

// func scoreNEON(acc []int32, keyScale []float32, mask []float32) (largest float32)
TEXT ·scoreNEON(SB), NOSPLIT, $0-76
	MOVD acc_base+0(FP), R1
	MOVD keyScale_base+24(FP), R2
	MOVD mask_base+48(FP), R3
	MOVD $0xff7fffff, R20
	VDUP R20, V0.S4
	MOVD $0xff7fffff, R20
	VDUP R20, V1.S4
	MOVD $0xff7fffff, R20
	VDUP R20, V2.S4
	MOVD $0xff7fffff, R20
	VDUP R20, V3.S4
	MOVD $0xff7fffff, R20
	VDUP R20, V4.S4
	MOVD $0xff7fffff, R20
	VDUP R20, V5.S4
	MOVD $0xff7fffff, R20
	VDUP R20, V6.S4
	MOVD $0xff7fffff, R20
	VDUP R20, V7.S4
	MOVD acc_len+8(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R1, R9
	FMOVQ 0(R9), F31
	WORD $0x4e21dbe8 // scvtf v8.4s, v31.4s
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F31
	WORD $0x6e3fdd08 // fmul v8.4s, v8.4s, v31.4s
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x4e3fd508 // fadd v8.4s, v8.4s, v31.4s
	WORD $0x4e28f400 // fmax v0.4s, v0.4s, v8.4s
	FMOVQ F8, 0(R9)
	FMOVQ 16(R9), F31
	WORD $0x4e21dbe9 // scvtf v9.4s, v31.4s
	FMOVQ 16(R10), F31
	WORD $0x6e3fdd29 // fmul v9.4s, v9.4s, v31.4s
	FMOVQ 16(R11), F31
	WORD $0x4e3fd529 // fadd v9.4s, v9.4s, v31.4s
	WORD $0x4e29f421 // fmax v1.4s, v1.4s, v9.4s
	FMOVQ F9, 16(R9)
	FMOVQ 32(R9), F31
	WORD $0x4e21dbea // scvtf v10.4s, v31.4s
	FMOVQ 32(R10), F31
	WORD $0x6e3fdd4a // fmul v10.4s, v10.4s, v31.4s
	FMOVQ 32(R11), F31
	WORD $0x4e3fd54a // fadd v10.4s, v10.4s, v31.4s
	WORD $0x4e2af442 // fmax v2.4s, v2.4s, v10.4s
	FMOVQ F10, 32(R9)
	FMOVQ 48(R9), F31
	WORD $0x4e21dbeb // scvtf v11.4s, v31.4s
	FMOVQ 48(R10), F31
	WORD $0x6e3fdd6b // fmul v11.4s, v11.4s, v31.4s
	FMOVQ 48(R11), F31
	WORD $0x4e3fd56b // fadd v11.4s, v11.4s, v31.4s
	WORD $0x4e2bf463 // fmax v3.4s, v3.4s, v11.4s
	FMOVQ F11, 48(R9)
	FMOVQ 64(R9), F31
	WORD $0x4e21dbec // scvtf v12.4s, v31.4s
	FMOVQ 64(R10), F31
	WORD $0x6e3fdd8c // fmul v12.4s, v12.4s, v31.4s
	FMOVQ 64(R11), F31
	WORD $0x4e3fd58c // fadd v12.4s, v12.4s, v31.4s
	WORD $0x4e2cf484 // fmax v4.4s, v4.4s, v12.4s
	FMOVQ F12, 64(R9)
	FMOVQ 80(R9), F31
	WORD $0x4e21dbed // scvtf v13.4s, v31.4s
	FMOVQ 80(R10), F31
	WORD $0x6e3fddad // fmul v13.4s, v13.4s, v31.4s
	FMOVQ 80(R11), F31
	WORD $0x4e3fd5ad // fadd v13.4s, v13.4s, v31.4s
	WORD $0x4e2df4a5 // fmax v5.4s, v5.4s, v13.4s
	FMOVQ F13, 80(R9)
	FMOVQ 96(R9), F31
	WORD $0x4e21dbee // scvtf v14.4s, v31.4s
	FMOVQ 96(R10), F31
	WORD $0x6e3fddce // fmul v14.4s, v14.4s, v31.4s
	FMOVQ 96(R11), F31
	WORD $0x4e3fd5ce // fadd v14.4s, v14.4s, v31.4s
	WORD $0x4e2ef4c6 // fmax v6.4s, v6.4s, v14.4s
	FMOVQ F14, 96(R9)
	FMOVQ 112(R9), F31
	WORD $0x4e21dbef // scvtf v15.4s, v31.4s
	FMOVQ 112(R10), F31
	WORD $0x6e3fddef // fmul v15.4s, v15.4s, v31.4s
	FMOVQ 112(R11), F31
	WORD $0x4e3fd5ef // fadd v15.4s, v15.4s, v31.4s
	WORD $0x4e2ff4e7 // fmax v7.4s, v7.4s, v15.4s
	FMOVQ F15, 112(R9)
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	WORD $0x4e24f400 // fmax v0.4s, v0.4s, v4.4s
	WORD $0x4e25f421 // fmax v1.4s, v1.4s, v5.4s
	WORD $0x4e26f442 // fmax v2.4s, v2.4s, v6.4s
	WORD $0x4e27f463 // fmax v3.4s, v3.4s, v7.4s
	WORD $0x4e22f400 // fmax v0.4s, v0.4s, v2.4s
	WORD $0x4e23f421 // fmax v1.4s, v1.4s, v3.4s
	WORD $0x4e21f400 // fmax v0.4s, v0.4s, v1.4s
	WORD $0x6e004008 // ext v8.16b, v0.16b, v0.16b, #8
	WORD $0x4e28f400 // fmax v0.4s, v0.4s, v8.4s
	WORD $0x4e0c0408 // dup v8.4s, v0.s[1]
	WORD $0x4e28f400 // fmax v0.4s, v0.4s, v8.4s
	FMOVS F0, largest+72(FP)
	RET

// func softmaxNEON(p []int16, acc []int32, valueScale []float32, largest float32, factor float32) (unit float32)
TEXT ·softmaxNEON(SB), NOSPLIT, $0-84
	MOVD p_base+0(FP), R1
	MOVD acc_base+24(FP), R2
	MOVD valueScale_base+48(FP), R3
	FMOVS largest+72(FP), F16
	WORD $0x4e040610 // dup v16.4s, v16.s[0]
	FMOVS factor+76(FP), F17
	WORD $0x4e040631 // dup v17.4s, v17.s[0]
	MOVD $0xc2a00000, R20
	VDUP R20, V22.S4
	MOVD $0x3f800000, R20
	VDUP R20, V23.S4
	MOVD $0x3f317099, R20
	VDUP R20, V24.S4
	MOVD $0x3e7601db, R20
	VDUP R20, V25.S4
	MOVD $0x3d64fda9, R20
	VDUP R20, V26.S4
	MOVD $0x3c1cf9d3, R20
	VDUP R20, V27.S4
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
	MOVD acc_len+32(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d400 // fadd v0.4s, v0.4s, v20.4s
	ADD R0<<2, R3, R11
	FMOVQ 0(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d508 // fadd v8.4s, v8.4s, v20.4s
	FMOVQ F20, 0(R10)
	FMOVQ 16(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d421 // fadd v1.4s, v1.4s, v20.4s
	FMOVQ 16(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d529 // fadd v9.4s, v9.4s, v20.4s
	FMOVQ F20, 16(R10)
	FMOVQ 32(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d442 // fadd v2.4s, v2.4s, v20.4s
	FMOVQ 32(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d54a // fadd v10.4s, v10.4s, v20.4s
	FMOVQ F20, 32(R10)
	FMOVQ 48(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d463 // fadd v3.4s, v3.4s, v20.4s
	FMOVQ 48(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d56b // fadd v11.4s, v11.4s, v20.4s
	FMOVQ F20, 48(R10)
	FMOVQ 64(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d484 // fadd v4.4s, v4.4s, v20.4s
	FMOVQ 64(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d58c // fadd v12.4s, v12.4s, v20.4s
	FMOVQ F20, 64(R10)
	FMOVQ 80(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d4a5 // fadd v5.4s, v5.4s, v20.4s
	FMOVQ 80(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d5ad // fadd v13.4s, v13.4s, v20.4s
	FMOVQ F20, 80(R10)
	FMOVQ 96(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d4c6 // fadd v6.4s, v6.4s, v20.4s
	FMOVQ 96(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d5ce // fadd v14.4s, v14.4s, v20.4s
	FMOVQ F20, 96(R10)
	FMOVQ 112(R10), F18
	WORD $0x4eb0d652 // fsub v18.4s, v18.4s, v16.4s
	WORD $0x6e31de52 // fmul v18.4s, v18.4s, v17.4s
	WORD $0x4e36f652 // fmax v18.4s, v18.4s, v22.4s
	WORD $0x4e21aa53 // fcvtns v19.4s, v18.4s
	WORD $0x4e21da74 // scvtf v20.4s, v19.4s
	WORD $0x4eb4d652 // fsub v18.4s, v18.4s, v20.4s
	WORD $0x4f375673 // shl v19.4s, v19.4s, #23
	WORD $0x6e3bde54 // fmul v20.4s, v18.4s, v27.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e39d694 // fadd v20.4s, v20.4s, v25.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e38d694 // fadd v20.4s, v20.4s, v24.4s
	WORD $0x6e32de94 // fmul v20.4s, v20.4s, v18.4s
	WORD $0x4e37d694 // fadd v20.4s, v20.4s, v23.4s
	WORD $0x4eb38694 // add v20.4s, v20.4s, v19.4s
	WORD $0x4e34d4e7 // fadd v7.4s, v7.4s, v20.4s
	FMOVQ 112(R11), F31
	WORD $0x6e3fde94 // fmul v20.4s, v20.4s, v31.4s
	WORD $0x4e34d5ef // fadd v15.4s, v15.4s, v20.4s
	FMOVQ F20, 112(R10)
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	WORD $0x4e24d400 // fadd v0.4s, v0.4s, v4.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s
	WORD $0x4e26d442 // fadd v2.4s, v2.4s, v6.4s
	WORD $0x4e27d463 // fadd v3.4s, v3.4s, v7.4s
	WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	WORD $0x6e004012 // ext v18.16b, v0.16b, v0.16b, #8
	WORD $0x4e32d400 // fadd v0.4s, v0.4s, v18.4s
	WORD $0x4e0c0412 // dup v18.4s, v0.s[1]
	WORD $0x4e32d400 // fadd v0.4s, v0.4s, v18.4s
	WORD $0x4e2cd508 // fadd v8.4s, v8.4s, v12.4s
	WORD $0x4e2dd529 // fadd v9.4s, v9.4s, v13.4s
	WORD $0x4e2ed54a // fadd v10.4s, v10.4s, v14.4s
	WORD $0x4e2fd56b // fadd v11.4s, v11.4s, v15.4s
	WORD $0x4e2ad508 // fadd v8.4s, v8.4s, v10.4s
	WORD $0x4e2bd529 // fadd v9.4s, v9.4s, v11.4s
	WORD $0x4e29d508 // fadd v8.4s, v8.4s, v9.4s
	WORD $0x6e084112 // ext v18.16b, v8.16b, v8.16b, #8
	WORD $0x4e32d508 // fadd v8.4s, v8.4s, v18.4s
	WORD $0x4e0c0512 // dup v18.4s, v8.s[1]
	WORD $0x4e32d508 // fadd v8.4s, v8.4s, v18.4s
	MOVD $0x46fffe00, R20
	VDUP R20, V18.S4
	FMULS F18, F0, F0
	FDIVS F0, F8, F0
	FMOVS F0, unit+80(FP)
	FDIVS F8, F18, F18
	WORD $0x4e040640 // dup v0.4s, v18.s[0]
	MOVD acc_len+32(FP), R19
	MOVD ZR, R0
	B check4
block3:
	ADD R0<<2, R2, R10
	FMOVQ 0(R10), F31
	WORD $0x6e3fdc01 // fmul v1.4s, v0.4s, v31.4s
	WORD $0x4e21a821 // fcvtns v1.4s, v1.4s
	FMOVQ 16(R10), F31
	WORD $0x6e3fdc02 // fmul v2.4s, v0.4s, v31.4s
	WORD $0x4e21a842 // fcvtns v2.4s, v2.4s
	FMOVQ 32(R10), F31
	WORD $0x6e3fdc03 // fmul v3.4s, v0.4s, v31.4s
	WORD $0x4e21a863 // fcvtns v3.4s, v3.4s
	FMOVQ 48(R10), F31
	WORD $0x6e3fdc04 // fmul v4.4s, v0.4s, v31.4s
	WORD $0x4e21a884 // fcvtns v4.4s, v4.4s
	FMOVQ 64(R10), F31
	WORD $0x6e3fdc05 // fmul v5.4s, v0.4s, v31.4s
	WORD $0x4e21a8a5 // fcvtns v5.4s, v5.4s
	FMOVQ 80(R10), F31
	WORD $0x6e3fdc06 // fmul v6.4s, v0.4s, v31.4s
	WORD $0x4e21a8c6 // fcvtns v6.4s, v6.4s
	FMOVQ 96(R10), F31
	WORD $0x6e3fdc07 // fmul v7.4s, v0.4s, v31.4s
	WORD $0x4e21a8e7 // fcvtns v7.4s, v7.4s
	FMOVQ 112(R10), F31
	WORD $0x6e3fdc08 // fmul v8.4s, v0.4s, v31.4s
	WORD $0x4e21a908 // fcvtns v8.4s, v8.4s
	WORD $0x4e421821 // uzp1 v1.8h, v1.8h, v2.8h
	WORD $0x4e441863 // uzp1 v3.8h, v3.8h, v4.8h
	WORD $0x4e4618a5 // uzp1 v5.8h, v5.8h, v6.8h
	WORD $0x4e4818e7 // uzp1 v7.8h, v7.8h, v8.8h
	ADD R0<<1, R1, R9
	FMOVQ F1, 0(R9)
	FMOVQ F3, 16(R9)
	FMOVQ F5, 32(R9)
	FMOVQ F7, 48(R9)
	ADD $32, R0
check4:
	CMP R19, R0
	BLT block3
	RET

// func dotNEON(a []int16, b []int8) (sum int32)
TEXT ·dotNEON(SB), NOSPLIT, $0-52
	MOVD a_base+0(FP), R1
	MOVD b_base+24(FP), R2
	WORD $0x6e201c00 // eor v0.16b, v0.16b, v0.16b
	WORD $0x6e211c21 // eor v1.16b, v1.16b, v1.16b
	WORD $0x6e221c42 // eor v2.16b, v2.16b, v2.16b
	WORD $0x6e231c63 // eor v3.16b, v3.16b, v3.16b
	WORD $0x6e241c84 // eor v4.16b, v4.16b, v4.16b
	WORD $0x6e251ca5 // eor v5.16b, v5.16b, v5.16b
	WORD $0x6e261cc6 // eor v6.16b, v6.16b, v6.16b
	WORD $0x6e271ce7 // eor v7.16b, v7.16b, v7.16b
	MOVD a_len+8(FP), R19
	MOVD ZR, R0
	B check2
block1:
	ADD R0<<0, R2, R10
	FMOVQ 0(R10), F16
	WORD $0x0f08a611 // sxtl v17.8h, v16.8b
	WORD $0x4f08a612 // sxtl2 v18.8h, v16.16b
	ADD R0<<1, R1, R9
	FMOVQ 0(R9), F19
	FMOVQ 16(R9), F20
	WORD $0x0e738220 // smlal v0.4s, v17.4h, v19.4h
	WORD $0x4e738221 // smlal2 v1.4s, v17.8h, v19.8h
	WORD $0x0e748242 // smlal v2.4s, v18.4h, v20.4h
	WORD $0x4e748243 // smlal2 v3.4s, v18.8h, v20.8h
	FMOVQ 16(R10), F16
	WORD $0x0f08a611 // sxtl v17.8h, v16.8b
	WORD $0x4f08a612 // sxtl2 v18.8h, v16.16b
	FMOVQ 32(R9), F19
	FMOVQ 48(R9), F20
	WORD $0x0e738224 // smlal v4.4s, v17.4h, v19.4h
	WORD $0x4e738225 // smlal2 v5.4s, v17.8h, v19.8h
	WORD $0x0e748246 // smlal v6.4s, v18.4h, v20.4h
	WORD $0x4e748247 // smlal2 v7.4s, v18.8h, v20.8h
	ADD $32, R0
check2:
	CMP R19, R0
	BLT block1
	WORD $0x4ea48400 // add v0.4s, v0.4s, v4.4s
	WORD $0x4ea58421 // add v1.4s, v1.4s, v5.4s
	WORD $0x4ea68442 // add v2.4s, v2.4s, v6.4s
	WORD $0x4ea78463 // add v3.4s, v3.4s, v7.4s
	WORD $0x4ea28400 // add v0.4s, v0.4s, v2.4s
	WORD $0x4ea38421 // add v1.4s, v1.4s, v3.4s
	WORD $0x4ea18400 // add v0.4s, v0.4s, v1.4s
	WORD $0x6e004010 // ext v16.16b, v0.16b, v0.16b, #8
	WORD $0x4eb08400 // add v0.4s, v0.4s, v16.4s
	WORD $0x4e0c0410 // dup v16.4s, v0.s[1]
	WORD $0x4eb08400 // add v0.4s, v0.4s, v16.4s
	FMOVS F0, sum+48(FP)
	RET
