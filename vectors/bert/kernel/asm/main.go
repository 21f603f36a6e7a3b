// Command asm prints the assembly of package kernel. Run in the package's
// folder:
//
//	go run -C asm .            writes the files
//	go run -C asm . -check     fails if they are not what it would write
//
// It is a module of its own, without dependencies, so that it is no part of the
// program.
//
// Both tiers come from the same functions: what differs is the width of a
// register, how many there are, and a few instructions, all in isa.go. A row is
// handled 32 elements at a time, in two registers of 512 or four of 256 bits,
// which is what gives both the same 32 running sums.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", "..", "folder of the package")
	check := flag.Bool("check", false, "compare only")
	flag.Parse()
	for name, content := range files() {
		if err := put(filepath.Join(*dir, name), content, *check); err != nil {
			fmt.Fprintln(os.Stderr, "asm:", err)
			os.Exit(1)
		}
	}
}

func put(path string, content []byte, check bool) error {
	if !check {
		return os.WriteFile(path, content, 0o644)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, content) {
		return fmt.Errorf("%s is not what this program prints: run go generate", path)
	}
	return nil
}

func files() map[string][]byte {
	var decls printer
	decls.line("// Code printed by the program in folder asm. DO NOT EDIT.")
	decls.line("")
	decls.line("//go:build amd64 && !purego")
	decls.line("")
	decls.line("package kernel")
	out := map[string][]byte{}
	for _, isa := range []*isa{avx2, avx512} {
		p := &printer{decls: &decls}
		p.line("// Code printed by the program in folder asm. DO NOT EDIT.")
		p.line("")
		p.line("//go:build amd64 && !purego")
		p.line("")
		p.line(`#include "textflag.h"`)
		isa.tile8(p)
		isa.tile16(p)
		isa.quantise(p)
		for _, v := range []variant{plain, adding, withGELU} {
			isa.dequantise(p, v)
		}
		isa.normalise(p)
		isa.maxAbs(p)
		isa.round16(p)
		isa.interleave16(p)
		isa.softmax(p)
		isa.scale(p)
		isa.dot(p)
		isa.constants(p)
		out[isa.file] = p.Bytes()
	}
	out["stubs_amd64.go"] = decls.Bytes()
	return out
}
