#include "textflag.h"

// func pairAVX2(p *byte, n, delta int, c1, c2, m1, m2 byte) int
//
// SI: the first bytes; DI: the second bytes, delta further on; AX: the place; CX: the last place a round may start.
TEXT ·pairAVX2(SB), NOSPLIT, $0-40
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ delta+16(FP), DX
	VPBROADCASTB c1+24(FP), Y0
	VPBROADCASTB c2+25(FP), Y1
	VPBROADCASTB m1+26(FP), Y2
	VPBROADCASTB m2+27(FP), Y3
	LEAQ (SI)(DX*1), DI
	XORQ AX, AX
	SUBQ $64, CX

round:
	CMPQ AX, CX
	JGT  none
	VPOR     (SI)(AX*1), Y2, Y4
	VPCMPEQB Y4, Y0, Y4
	VPOR     (DI)(AX*1), Y3, Y5
	VPCMPEQB Y5, Y1, Y5
	VPAND    Y4, Y5, Y4
	VPOR     32(SI)(AX*1), Y2, Y6
	VPCMPEQB Y6, Y0, Y6
	VPOR     32(DI)(AX*1), Y3, Y7
	VPCMPEQB Y7, Y1, Y7
	VPAND    Y6, Y7, Y6
	VPOR     Y4, Y6, Y8
	VPTEST   Y8, Y8
	JNZ      hit
	ADDQ     $64, AX
	JMP      round

hit:
	VPMOVMSKB Y4, BX
	TESTL     BX, BX
	JNZ       place
	VPMOVMSKB Y6, BX
	ADDQ      $32, AX

place:
	BSFL BX, BX
	ADDQ BX, AX
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET

none:
	VZEROUPPER
	MOVQ $-1, ret+32(FP)
	RET
