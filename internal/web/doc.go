// Package web serves a web page for browsing a vault: search with the reason for
// each hit, notes with their links and history, the graph of links, the latest
// changes and the state of the index.
//
// The page has no direct access to the vault. It is an MCP client: a [Server]
// holds one session while browsers use the page, over the connection that
// [Options.Dial] opens, and renders the results of tools and of notesd's own
// methods as HTML. The session's read-only mode and folders therefore restrict
// the page like any other client, and the history records its writes under its
// name.
//
// Pages are built on the server with html/template and work without JavaScript;
// with it, page.js replaces the content of <main> as the user types or as notes
// change, and graph.js draws the graph on a canvas while layout.js, a worker,
// computes the forces with d3-force. Notes are untrusted: render shows raw HTML
// as text, the content security policy of every response permits scripts, styles
// and pictures from this server only, and Trusted Types keep scripts from parsing
// HTML (their only policy is for the URL of the worker).
//
// A browser is admitted by a link that works once and expires after five minutes
// (see [Server.Link]); it then gets a cookie that other sites cannot send.
// Requests that change something must come from the page itself.
package web
