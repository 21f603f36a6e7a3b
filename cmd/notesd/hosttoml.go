package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// setTOMLServer returns the text of a host's settings with the table
// [servers.name]. had is the text of the table that was there, nil if none; its
// keys beside the server's own stay. What is written in another form than as
// tables is refused: this is no parser, and guesses nothing.
func setTOMLServer(text []byte, servers, name string, s server) (with, had []byte, err error) {
	if odd := regexp.MustCompile(`(?m)^[ \t]*` + servers + `[ \t]*[.=]`).Find(text); odd != nil {
		return nil, nil, fmt.Errorf("%s is not written as tables", servers)
	}
	table := tomlTable(servers, name, s)
	header := regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*` + servers + `[ \t]*\.[ \t]*["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*\][ \t]*(#.*)?\r?$`)
	at := header.FindIndex(text)
	if at == nil {
		with = bytes.TrimRight(text, "\r\n \t")
		if len(with) > 0 {
			with = append(slices.Clone(with), "\n\n"...)
		}
		return append(with, table...), nil, nil
	}
	// To the next table, or to the blank lines and comments that lead up to it.
	end := len(text)
	if next := regexp.MustCompile(`(?m)^[ \t]*\[`).FindIndex(text[at[1]:]); next != nil {
		end = at[1] + next[0]
	}
	body := regexp.MustCompile(`(?:\r?\n[ \t]*(?:#[^\n]*)?)*$`).ReplaceAll(text[at[0]:end], nil)
	rest := text[at[0]+len(body):]
	if others := tomlOthers(body[at[1]-at[0]:]); len(others) > 0 {
		table = append(table, others...)
	}
	return slices.Concat(text[:at[0]], bytes.TrimRight(table, "\n"), rest), body, nil
}

// tomlOwn finds what a table's lines say of a server's command and arguments.
var tomlOwn = regexp.MustCompile(`(?m)^[ \t]*(?:command[ \t]*=[ \t]*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')|args[ \t]*=[ \t]*\[(?:[\s,]|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*\])[ \t]*(?:#[^\n]*)?\r?(?:\n|$)`)

// tomlOthers is the body of a table without the server's own keys.
func tomlOthers(body []byte) []byte {
	return bytes.TrimLeft(tomlOwn.ReplaceAll(bytes.TrimLeft(body, "\r\n"), nil), "\r\n")
}

func tomlTable(servers, name string, s server) []byte {
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		args[i] = tomlString(arg)
	}
	key := name
	if strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		key = tomlString(name)
	}
	return fmt.Appendf(nil, "[%s.%s]\ncommand = %s\nargs = [%s]\n", servers, key, tomlString(s.Command), strings.Join(args, ", "))
}

// tomlString quotes as TOML's basic strings do, whose escapes are a part of
// those that Go writes for text.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u` + fmt.Sprintf("%04s", strconv.FormatInt(int64(r), 16)))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var (
	tomlHeader  = regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*([A-Za-z0-9_-]+)[ \t]*\.[ \t]*["']?([^"'\]\n]+?)["']?[ \t]*\]`)
	tomlCommand = regexp.MustCompile(`(?m)^[ \t]*command[ \t]*=[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
)

// tomlServers finds the servers that launch notesd, as far as they are written
// as tables.
func tomlServers(text []byte, servers string) map[string]server {
	found := map[string]server{}
	headers := tomlHeader.FindAllSubmatchIndex(text, -1)
	for i, at := range headers {
		if string(text[at[2]:at[3]]) != servers {
			continue
		}
		end := len(text)
		if i+1 < len(headers) {
			end = headers[i+1][0]
		}
		m := tomlCommand.FindSubmatch(text[at[1]:end])
		if m == nil {
			continue
		}
		command := strings.Trim(string(m[1]), "'")
		if unquoted, err := strconv.Unquote(command); err == nil {
			command = unquoted
		}
		if isNotesd(command) {
			found[string(text[at[4]:at[5]])] = server{Command: command}
		}
	}
	return found
}
