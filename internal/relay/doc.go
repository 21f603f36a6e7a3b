// Package relay keeps a client's session alive across restarts of the daemon.
//
// A [Relay] connects a client, which speaks JSON-RPC on a pair of streams, to the
// daemon of its vault. Each daemon it connects to is a generation. When one exits,
// the relay connects to the next, replays the session's state (handshake, log
// level, subscriptions) and resends the unanswered requests. A tool call carries
// the same key each time ([RequestKeyMeta]), so the daemon returns the result of a
// write that has already happened instead of repeating it.
//
// # Reading order
//
//   - relay.go: Run, and the loop over daemons
//   - session.go: the state of one Run
//   - client.go: lines from the client; daemon.go: lines from the daemon
//   - replay.go: replaying the session to a new daemon, and handling a lost one
//   - inflight.go, handshake.go: the tables these use
//
// # Concurrency
//
// Run blocks and owns every goroutine it starts, with one exception: reads and
// writes of a client's standard streams cannot be interrupted on every system, so
// Run does not wait for them.
package relay
