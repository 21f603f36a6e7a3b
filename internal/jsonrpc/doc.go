// Package jsonrpc reads and edits JSON-RPC 2.0 messages in their wire format: one JSON
// text per line. It is independent of methods and connections.
//
// A [Reader] splits a stream into lines and limits their length. [Scan] finds the members
// of a message as byte ranges ([Span]), so that a message can be routed, and single
// members replaced ([Replace], [Insert]), without decoding and encoding the rest:
// forwarded messages keep the digits of numbers, the order of keys and escapes. An [ID]
// is a request id in comparable form.
//
// The relay forwards lines between a client and a daemon; package mcp decodes them. Both
// use this package, so that on either side of the socket the limits are the same and a
// request has the same id.
package jsonrpc
