package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size in bytes. In files and variables, it is a whole number with an
// optional unit: "20480", "20 KiB", "16MB".
type Bytes int64

var byteUnits = map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 1e3, "MB": 1e6, "GB": 1e9, "B": 1, "": 1}

// fromTOML converts a value of a TOML document to type typ. A single value may be written
// with or without quotes.
func fromTOML(v any, typ reflect.Type) (any, error) {
	list, isList := v.([]any)
	table, isTable := v.(map[string]any)
	switch {
	case typ == typeStrings:
		return stringsFromTOML(list, isList)
	case typ == typeFolders:
		return foldersFromTOML(table, isTable)
	case isList:
		return nil, errors.New("must be one value, not a list")
	}
	return fromText(fmt.Sprint(v), typ)
}

func stringsFromTOML(items []any, ok bool) (any, error) {
	list := make([]string, 0, len(items))
	for _, item := range items {
		s, isString := item.(string)
		ok = ok && isString
		list = append(list, s)
	}
	if !ok {
		return nil, errors.New(`must be a list of strings, such as ["a", "b"]`)
	}
	return list, nil
}

func foldersFromTOML(table map[string]any, ok bool) (any, error) {
	f := Folders{}
	for name, dir := range table {
		text, isString := dir.(string)
		ok = ok && isString
		f[name] = text
	}
	if !ok {
		return nil, errors.New(`must be a table of folders, such as { work = "~/Work", home = "~/Notes" }`)
	}
	return f, nil
}

// fromText parses a value of type typ from an environment variable or a flag.
// Lists are separated by commas.
func fromText(s string, typ reflect.Type) (any, error) {
	switch typ {
	case typeString, typeAddress:
		return reflect.ValueOf(s).Convert(typ).Interface(), nil
	case typeBool:
		return parseBool(s)
	case typeBytes:
		return parseBytes(s)
	case typeDuration:
		return parseDuration(s)
	case typeInt:
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil && !errors.Is(err, strconv.ErrRange) { // n is then the largest or smallest int
			return nil, errors.New("must be a whole number")
		}
		return n, nil
	case typeStrings:
		list := []string{}
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		if s != "" && len(list) == 0 { // such as the list of two empty variables, which must not allow everything
			return nil, errors.New(`must be a list such as "a,b"; unset it for none`)
		}
		return list, nil
	case typeFolders:
		return parseFolders(s)
	}
	panic(fmt.Sprintf("config: no reader for a field of type %v", typ))
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	}
	return false, errors.New("must be true or false")
}

func parseBytes(s string) (Bytes, error) {
	s = strings.TrimSpace(s)
	digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	n, err := strconv.ParseInt(digits, 10, 64)
	for unit, size := range byteUnits {
		if strings.EqualFold(unit, strings.TrimSpace(s[len(digits):])) && err == nil && n <= math.MaxInt64/size {
			return Bytes(n * size), nil
		}
	}
	return 0, errors.New(`must be a size such as 20480, "20 KiB" or "16 MB"`)
}

// parseDuration parses the syntax of time.ParseDuration, and whole days ("90d") and
// weeks ("12w"), which suit the age of history.
func parseDuration(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	for unit, size := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		digits, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/int64(size) {
			return time.Duration(n) * size, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New(`must be a duration such as "90d", "12w" or "36h"`)
	}
	return d, nil
}

// plain returns sizes, durations and addresses as text, and other values unchanged.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return durationText(v)
	case Bytes:
		return v.String()
	case Address:
		return v.String()
	}
	return v
}

// tomlText formats a plain value as TOML. It does not escape control characters, which
// no setting contains.
func tomlText(v any) string {
	switch v := v.(type) {
	case string:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = tomlText(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case Folders:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, tomlText(name)+" = "+tomlText(v[name]))
		}
		if len(all) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(all, ", ") + " }"
	}
	return fmt.Sprint(v)
}

// durationText formats a duration for parseDuration.
func durationText(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return strings.Replace(d.String(), "h0m0s", "h", 1)
}

// String formats a size as in a configuration file.
func (b Bytes) String() string {
	for _, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := Bytes(byteUnits[unit]); b >= size && b%size == 0 {
			return fmt.Sprintf("%d %s", b/size, unit)
		}
	}
	return strconv.FormatInt(int64(b), 10)
}
