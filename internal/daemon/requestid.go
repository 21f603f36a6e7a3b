package daemon

import (
	"strconv"
	"strings"
)

// relayIDPrefix starts every request id that the relay makes up itself. A client
// whose own ids start so has them exchanged for others on the way to the daemon.
const relayIDPrefix = "notesd:"

// maxExactInteger is the largest integer that every JSON implementation holds
// exactly, 2^53-1. An id beyond it would come back from the daemon with other
// digits, because its JSON-RPC layer reads numbers as float64.
const maxExactInteger = 1<<53 - 1

// requestID is a JSON-RPC request id in the form in which ids are compared: a
// string without its escapes, or an integer. Two spellings of one id are equal.
type requestID struct {
	text    string
	numeric bool
}

// parseID reads a raw id. It reports false for what is not a request id in MCP:
// null, fractions and exponents, booleans, containers, the empty span.
func parseID(raw []byte) (requestID, bool) {
	if len(raw) == 0 {
		return requestID{}, false
	}
	if raw[0] == '"' {
		s := text(raw)
		return requestID{text: s}, s != "" || len(raw) == len(`""`)
	}
	digits := strings.TrimPrefix(string(raw), "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return requestID{}, false
	}
	if digits == "0" {
		return requestID{text: "0", numeric: true}, true
	}
	return requestID{text: string(raw), numeric: true}, true
}

// survives reports whether the daemon answers under this very id, so that it
// need not be exchanged for one of the relay's own.
func (id requestID) survives() bool {
	if !id.numeric {
		return !strings.HasPrefix(id.text, relayIDPrefix)
	}
	n, err := strconv.ParseInt(id.text, 10, 64)
	return err == nil && -maxExactInteger <= n && n <= maxExactInteger
}

// relayID returns the n-th id of the relay's own.
func relayID(n uint64) requestID {
	return requestID{text: relayIDPrefix + strconv.FormatUint(n, 10)}
}

// raw spells an id of the relay's own as JSON.
func (id requestID) raw() string { return strconv.Quote(id.text) }
