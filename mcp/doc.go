// Package mcp is the protocol boundary of notesd: it speaks the Model Context
// Protocol and turns its requests into calls on the vault and the search
// engine. Nothing outside this package knows about JSON-RPC, and nothing in it
// opens a file or a database; where a client's roots lie is asked of the disk.
//
// # Vocabulary
//
//   - A [Core] holds what all sessions share: the vault, the search engine, the
//     prompt catalogue, the limits. A program has one.
//   - A session is one client on one connection. Each has an SDK server of its
//     own, so its [Profile] (read-only, tool selection, folders it may see)
//     shapes what it lists as well as what it may call.
//   - A tool (see mcp/tools) is data; a session gives it an environment for each
//     call and makes a result of its outcome.
//   - An attachment is a file that a note links to and that is no note; it has a
//     note's kind of URI, and is read as a blob.
//   - The roots of a client are the folders its user works on; those within the
//     vault bound a session as its profile does.
//   - A line connection (see mcp/transport) is newline-delimited JSON-RPC over a
//     pair of byte streams: stdio, a Unix socket, a pipe within the process.
//   - A watch is a list of resources that a client wants to hear of. A session
//     has one, and each subscriptions/listen of 2026-07-28 is one.
//   - An outlet is how notifications leave: straight into a line connection's
//     queue, or over HTTP through the SDK from a goroutine.
//   - The [Notifier] follows the vault's change feed and tells subscribed
//     sessions; it coalesces, and waits for nobody.
//
// # Two eras
//
// Versions 2024-11-05 to 2025-11-25 of the protocol have sessions that begin
// with initialize; 2026-07-28 has none, and each request carries its version in
// _meta. The SDK tells them apart for each request; the code here calls the
// first "session era" and asks [isModern] where an answer differs.
//
// # Failures
//
// What goes wrong is either in the domain's own words (*notes.Error), and then
// the table in errors.go says how it is shown, or it is a fault of ours: logged
// with an id, and shown as "internal error (id …)". A failure that a model can
// do something about is a tool result with isError, never a protocol error.
//
// # Concurrency
//
// The SDK calls every request's handler in a goroutine of its own; a context
// that is cancelled when the client cancels the request or goes away reaches
// down to the vault. A line connection owns two goroutines, which end with
// Close. A session owns what it does beside requests (pings, asking for roots);
// [Core.Serve] blocks and owns all of that, and [HTTP] what its sessions start.
// The Notifier's Run owns its timers.
package mcp
