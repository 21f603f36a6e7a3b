// Package jsonrpc reads and edits JSON-RPC 2.0 messages in the form in which they
// travel: one JSON text a line. It knows no method and holds no connection.
//
// A [Reader] splits a stream into lines and bounds their length. [Scan] finds the
// members of a message as ranges of its bytes ([Span]), so that a message can be
// routed, and single members replaced ([Replace], [Insert]), without decoding
// and encoding the rest: what is passed on keeps its digits, its order of keys
// and its escapes. An [ID] is a request id in comparable form.
//
// The relay passes lines on between a client and a daemon; package mcp decodes
// them. Both share these rules, so that a line has the same limits and a request
// the same id on either side of the socket.
package jsonrpc
