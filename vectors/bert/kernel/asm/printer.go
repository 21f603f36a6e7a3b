package main

import (
	"bytes"
	"fmt"
	"strings"
)

// printer collects lines of assembly and the Go declarations of its functions.
type printer struct {
	bytes.Buffer
	decls  *printer
	name   string
	labels int
	args   map[string]string // operands of the function's arguments
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

// emit prints an instruction. Operands are in the order of Go's assembler: the
// destination is last.
func (p *printer) emit(name string, operands ...any) {
	texts := make([]string, len(operands))
	for i, o := range operands {
		switch o := o.(type) {
		case int:
			texts[i] = fmt.Sprintf("$%d", o)
		default:
			texts[i] = fmt.Sprint(o)
		}
	}
	p.line("\t%s", strings.TrimSpace(name+" "+strings.Join(texts, ", ")))
}

// label returns a new label.
func (p *printer) label(hint string) string {
	p.labels++
	return fmt.Sprintf("%s%d", hint, p.labels)
}

func (p *printer) place(label string) { p.line("%s:", label) }

// arg returns the operand of an argument: "x" is the first word of a slice x,
// "x_len" its second.
func (p *printer) arg(name string) string {
	a, ok := p.args[name]
	if !ok {
		panic(p.name + " has no argument " + name)
	}
	return a
}

// function starts a function. Parameters and results are given in Go syntax, one type
// each: "dst []byte, x []float32".
func (p *printer) function(name, params, results string) {
	p.name, p.args, p.labels = name, map[string]string{}, 0
	offset := p.layOut(params, 0)
	if results != "" {
		offset = p.layOut(results, (offset+7)/8*8)
	}
	signature := fmt.Sprintf("%s(%s)", name, params)
	if results != "" {
		signature += " (" + results + ")"
	}
	p.decls.line("\n//go:noescape\nfunc %s", signature)
	p.line("\n// func %s", signature)
	p.line("TEXT ·%s(SB), NOSPLIT, $0-%d", name, offset)
}

// layOut records the frame offsets of parameters in Go's stack-based calling
// convention and returns the offset after them.
func (p *printer) layOut(params string, offset int) int {
	for _, param := range strings.Split(params, ", ") {
		name, kind, _ := strings.Cut(param, " ")
		size, align := 8, 8
		switch {
		case strings.HasPrefix(kind, "[]"):
			size = 24
		case kind == "float32" || kind == "int32":
			size, align = 4, 4
		}
		offset = (offset + align - 1) / align * align
		if size == 24 {
			p.args[name] = fmt.Sprintf("%s_base+%d(FP)", name, offset)
			p.args[name+"_len"] = fmt.Sprintf("%s_len+%d(FP)", name, offset+8)
		} else {
			p.args[name] = fmt.Sprintf("%s+%d(FP)", name, offset)
		}
		offset += size
	}
	return offset
}
