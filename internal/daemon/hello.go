package daemon

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Wire is the version of the protocol between relay and daemon beyond MCP: the
// first lines and the methods in "notesd/". It changes only when an older peer
// could no longer work.
const Wire = 1

const (
	// maxFrame bounds a Hello or Welcome.
	maxFrame = 64 << 10
	// frameTimeout bounds the wait for one. A daemon that answers later than
	// this is stuck; it reads hellos before anything else.
	frameTimeout = 5 * time.Second
)

// What a daemon sends to a relay before it closes the connection.
const (
	// ClosingMethod is a notification: the daemon takes no new requests and will
	// hang up once those in flight are answered. Its params.reason is one of the
	// reasons below; a relay treats an unknown one as ReasonStopping.
	ClosingMethod  = "notesd/closing"
	ReasonStopping = "stopping"
	ReasonReplaced = "replaced"
	// ReasonStopped: the user has stopped the daemon, and a relay starts the next
	// one only when its client asks for something.
	ReasonStopped = "stopped"
)

// Kind is what a connection is for.
type Kind string

// The kinds. KindMCP is a relay's session, which is notified when the daemon
// closes; KindCLI is a session of a shell command, which is not. KindStatus is a session
// that does not count as use of the daemon. KindProbe wants only the Welcome,
// KindReplace wants the daemon to stop in favour of a newer one, KindStop wants
// it to stop until a client asks for something, and KindRestart to stop in favour
// of another with the current settings; they end with the Welcome.
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
	Version string `json:"version"` // of the client's program
	Kind    Kind   `json:"kind"`
	// Vault is the folder that the client means, absolute and without symbolic
	// links. A daemon of another folder refuses the connection. Empty: any folder.
	Vault string `json:"vault,omitempty"`
	// ReadOnly, Tools and Scopes narrow the session. They are enforced by the
	// daemon; an empty list means no narrowing.
	ReadOnly bool     `json:"read_only,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	NoWrite  []string `json:"no_write,omitempty"`
	// Settings are the defaults of the session; nil: those of the daemon.
	Settings *Settings `json:"settings,omitempty"`
	// Passed are settings of the daemon that the client was given.
	Passed []Passed `json:"passed,omitempty"`
}

// Settings are those of one session.
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
	// Generation is a random name of one daemon process. It distinguishes two
	// daemons with the same process id.
	Generation string `json:"generation"`
}

// Refusal is why a daemon does not take a connection.
type Refusal string

// The refusals.
const (
	RefusedWire     Refusal = "wire"      // another wire version is spoken
	RefusedHello    Refusal = "hello"     // the first line was not understood
	RefusedBusy     Refusal = "busy"      // too many sessions
	RefusedClosing  Refusal = "closing"   // the daemon is stopping
	RefusedNotNewer Refusal = "not_newer" // only a newer version replaces a daemon
	RefusedVault    Refusal = "vault"     // the daemon serves another folder
)

// Welcome is the daemon's answer to a Hello.
type Welcome struct {
	Identity
	Refused Refusal `json:"refused,omitempty"` // empty: the connection is accepted
	Vault   string  `json:"vault,omitempty"`   // the folder that the daemon serves
	// Remarks are for the client's user, on the settings in the Hello.
	Remarks []string `json:"remarks,omitempty"`
}

// NewIdentity describes this process as a daemon of the given program version.
func NewIdentity(version string, pid int) Identity {
	return Identity{Wire: Wire, Version: version, PID: pid, Generation: rand.Text()}
}

// writeFrame writes v as one JSON line.
func writeFrame(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode first line: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

var errFrameTooLong = errors.New("first line is too long")

// readFrame reads one JSON line of at most maxFrame bytes into v and nothing
// beyond it.
func readFrame(r *bufio.Reader, v any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		switch line = append(line, part...); {
		case len(line) > maxFrame:
			return errFrameTooLong
		case err == nil:
			if err := json.Unmarshal(line, v); err != nil {
				return fmt.Errorf("first line: %w", err)
			}
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// Supersedes reports whether a program a should replace a daemon b: its version
// is newer by the rules of Semantic Versioning or, where versions are equal or
// are none, as in a build without one, its wire number is higher. It is a strict
// order, so that two programs never replace each other in turn.
func (a Identity) Supersedes(b Identity) bool {
	x, y := "v"+strings.TrimPrefix(a.Version, "v"), "v"+strings.TrimPrefix(b.Version, "v")
	if semver.IsValid(x) && semver.IsValid(y) {
		if order := semver.Compare(x, y); order != 0 {
			return order > 0
		}
	}
	return a.Wire > b.Wire
}
