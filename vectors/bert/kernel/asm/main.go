// Command asm prints the assembly of package kernel. Run in the package's
// folder:
//
//	go run -C asm .                      writes the files
//	go test -C asm                       fails if they are not what it would write
//	go test -C asm -run Counts -v        prints the instructions per token on arm64
//
// It is a module of its own, without dependencies, so that it is no part of the
// program.
//
// All tiers come from the same functions, in rows.go and softmax.go, which print
// for a [machine]: x86.go has that of amd64, neon.go that of arm64. A row is
// handled 32 elements at a time, in as many registers as that takes, which is what
// gives all tiers the same 32 running sums. Matrix products, whose order is free,
// are laid out for each machine: x86tiles.go, neontiles.go.
//
// Instructions that Go's assembler has no mnemonic for are printed as constants,
// with their GNU syntax as a comment, which a test of package kernel compares with
// what a disassembler makes of them.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	for name, content := range files() {
		if err := os.WriteFile(filepath.Join("..", name), content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "asm:", err)
			os.Exit(1)
		}
	}
}

func files() map[string][]byte {
	out := map[string][]byte{}
	amd64, arm64 := declarations("amd64"), declarations("arm64")
	all := []func(m machine){
		quantise, func(m machine) { dequantise(m, plain) }, func(m machine) { dequantise(m, adding) },
		func(m machine) { dequantise(m, withGELU) }, normalise, maxAbs, round16, interleave16, score, softmax, scale,
	}
	for _, v := range []*x86{
		{suffix: "AVX2", width: 8, rows: 6},
		{suffix: "AVXVNNI", width: 8, rows: 6, vnni: true},
		{suffix: "AVX512VNNI", width: 16, rows: 12, vnni: true},
	} {
		v.printer = assembly("amd64", amd64)
		v.tile8()
		v.tile16()
		if v.suffix == "AVXVNNI" { // the other functions are those of AVX2
			quantise(v)
		} else {
			for _, kernel := range all {
				kernel(v)
			}
			v.dot()
			v.signSums()
		}
		v.constants()
		out[strings.ToLower(v.suffix)+"_amd64.s"] = v.Bytes()
	}
	for _, t := range []struct {
		suffix string
		tile   func(*neon) *neonTile
	}{{"NEON", (*neon).widening}, {"NEONDot", (*neon).dotting}, {"NEONI8MM", (*neon).matrices}} {
		v := &neon{printer: assembly("arm64", arm64), suffix: t.suffix}
		v.tile8(t.tile(v))
		if t.suffix == "NEON" { // the others have the rest from here
			v.tile16()
			for _, kernel := range all {
				kernel(v)
			}
			v.dot()
		}
		out[strings.ToLower(t.suffix)+"_arm64.s"] = v.Bytes()
	}
	out["stubs_amd64.go"], out["stubs_arm64.go"] = amd64.Bytes(), arm64.Bytes()
	return out
}

// declarations begins a file of Go declarations.
func declarations(arch string) *printer {
	p := &printer{}
	p.line("// Code printed by the program in folder asm. DO NOT EDIT.")
	p.line("")
	p.line("//go:build %s && !purego", arch)
	p.line("")
	p.line("package kernel")
	return p
}

// assembly begins a file of assembly whose declarations go to another.
func assembly(arch string, decls *printer) *printer {
	p := &printer{decls: decls}
	p.line("// Code printed by the program in folder asm. DO NOT EDIT.")
	p.line("")
	p.line("//go:build %s && !purego", arch)
	p.line("")
	p.line(`#include "textflag.h"`)
	return p
}
