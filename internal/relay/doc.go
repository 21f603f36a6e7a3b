// Package relay keeps a client's session alive while daemons come and go.
//
// A [Relay] joins a client, which speaks JSON-RPC on a pair of streams, to the
// daemon of its vault. Each daemon that it talks to is a generation. When one
// ends, the relay connects to the next, replays what the session consists of
// (handshake, log level, subscriptions) and sends the unanswered requests again.
// A tool call carries the same key each time ([RequestKeyMeta]), so that the
// daemon answers a write that had already happened instead of repeating it.
//
// # Reading order
//
//   - relay.go: Run, and the loop from daemon to daemon
//   - session.go: the state of one Run, and where a line goes (a live daemon or
//     the backlog)
//   - client.go: lines from the client; upstream.go: lines from the daemon
//   - replay.go: bringing a new daemon up to date, and what happens when one is lost
//   - inflight.go, questions.go, handshake.go: the tables behind it
//
// # Concurrency
//
// Run blocks and owns every goroutine that it starts, with one exception: reading
// and writing a client's standard streams cannot be interrupted on every system,
// so Run does not wait for them.
package relay
