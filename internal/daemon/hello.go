package daemon

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Wire is the version of the protocol between relay and daemon beyond MCP: the first
// lines and the methods in "notesd/". It changes only when an older peer would stop
// working.
const Wire = 1

const (
	// maxFrame bounds a Hello or Welcome. It is the buffer of a connection, and no longer
	// than reads that follow, which then bypass the buffer.
	maxFrame = 32 << 10
	// frameTimeout bounds the wait for a Hello or Welcome. A daemon that takes longer
	// is stuck; it reads a Hello before anything else.
	frameTimeout = 5 * time.Second
)

// The notification that a daemon sends to a relay before it closes the connection.
const (
	// ClosingMethod announces that the daemon accepts no new requests and will
	// disconnect once those in flight are answered. Its params.reason is one of the
	// reasons below; a relay treats an unknown reason as ReasonStopping.
	ClosingMethod  = "notesd/closing"
	ReasonStopping = "stopping"
	ReasonReplaced = "replaced"
	// ReasonStopped means that the user has stopped the daemon. A relay then starts the
	// next one only when its client sends a request.
	ReasonStopped = "stopped"
)

// Kind is the purpose of a connection.
type Kind string

// The kinds. KindMCP is a relay's session, which is notified when the daemon closes;
// KindCLI is a session of a shell command, which is not. KindStatus is a session that
// does not count as use of the daemon. The others end with the Welcome: KindProbe
// requests nothing else, KindReplace asks the daemon to stop in favour of a newer one,
// KindStop to stop until a client sends a request, and KindRestart to stop in favour of
// one with the current settings.
const (
	KindMCP     Kind = "mcp"
	KindCLI     Kind = "cli"
	KindStatus  Kind = "status"
	KindProbe   Kind = "probe"
	KindReplace Kind = "replace"
	KindStop    Kind = "stop"
	KindRestart Kind = "restart"
)

// Hello is the first line of a connection, from the client.
type Hello struct {
	Wire    int    `json:"wire"`
	Version string `json:"version"` // version of the client's program
	Kind    Kind   `json:"kind"`
	// Vault is the folder that the client expects, absolute and without symbolic links.
	// A daemon of another folder refuses the connection. Empty means any folder.
	Vault string `json:"vault,omitempty"`
	// ReadOnly, Tools, Scopes and NoWrite restrict the session. The daemon enforces
	// them; an empty list is no restriction.
	ReadOnly bool     `json:"read_only,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	NoWrite  []string `json:"no_write,omitempty"`
	Settings Settings `json:"settings,omitzero"`
	// Passed lists the daemon settings that the client was started with.
	Passed []Passed `json:"passed,omitempty"`
}

// Settings are the settings of one session.
type Settings struct {
	SearchMode    string `json:"search_mode,omitempty"`
	SearchLimit   int    `json:"search_limit,omitempty"`
	ResultBytes   int    `json:"result_bytes,omitempty"`
	PromptsFolder string `json:"prompts_folder,omitempty"`
}

// Passed is a setting of the daemon that a client passed.
type Passed struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Remark string `json:"remark"` // why it has no effect, and what to do
}

// Identity identifies a daemon, or a program that would start one.
type Identity struct {
	Wire    int    `json:"wire"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

// Refusal is the reason that a daemon refuses a connection.
type Refusal string

// The refusals.
const (
	RefusedWire     Refusal = "wire"      // the wire versions differ
	RefusedHello    Refusal = "hello"     // the first line is invalid
	RefusedBusy     Refusal = "busy"      // too many sessions
	RefusedClosing  Refusal = "closing"   // the daemon is stopping
	RefusedNotNewer Refusal = "not_newer" // only a newer version replaces a daemon
	RefusedVault    Refusal = "vault"     // the daemon serves another folder
	RefusedStop     Refusal = "stop"      // see Server.Foreground
)

// Welcome is the daemon's answer to a Hello.
type Welcome struct {
	Identity
	Refused Refusal `json:"refused,omitempty"` // empty if the connection is accepted
	Vault   string  `json:"vault,omitempty"`   // the folder that the daemon serves
	// Remarks are for the client's user and concern the settings in the Hello.
	Remarks []string `json:"remarks,omitempty"`
}

// NewIdentity describes this process as a daemon of the given program version.
func NewIdentity(version string, pid int) Identity {
	return Identity{Wire: Wire, Version: version, PID: pid}
}

// opening is a connection that begins with one JSON line in each direction.
type opening struct {
	net.Conn
	in *bufio.Reader
}

func newOpening(c net.Conn) opening { return opening{c, bufio.NewReaderSize(c, maxFrame)} }

// Read reads the data after the first line.
func (c opening) Read(p []byte) (int, error) { return c.in.Read(p) }

// send writes v as the first line.
func (c opening) send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode first line: %w", err)
	}
	_, err = c.Write(append(line, '\n'))
	return err
}

// receive reads the first line into v.
func (c opening) receive(v any) error {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("first line: %w", err)
	}
	return nil
}

// Supersedes reports whether a program a should replace a daemon b: its version is
// newer by Semantic Versioning or, if the versions are equal or not valid, as in a
// build without one, its wire number is higher. This is a strict order, so two programs
// never keep replacing each other.
func (a Identity) Supersedes(b Identity) bool {
	x, y := "v"+strings.TrimPrefix(a.Version, "v"), "v"+strings.TrimPrefix(b.Version, "v")
	if semver.IsValid(x) && semver.IsValid(y) {
		if order := semver.Compare(x, y); order != 0 {
			return order > 0
		}
	}
	return a.Wire > b.Wire
}
