// Package web serves the page on which people look at a vault in a browser:
// search with the reason of each hit, notes with their links and history, the
// graph of links, the latest changes and the state of the index.
//
// The page has no access to the vault of its own. It is an MCP client: a
// [Server] holds one session, over the connection that [Options.Dial] opens, and
// turns the results of tools and of notesd's own methods into HTML. So the
// session's read-only mode and folders bound the page as they bound any client,
// and what it writes is in the history under its name.
//
// Pages are built on the server with html/template and work without JavaScript;
// with it, page.js replaces the content of <main> as the user types or as notes
// change, and graph.js draws the graph on a canvas while layout.js, a worker,
// computes the forces with d3-force. Notes are untrusted: render shows raw HTML
// as text, the policy that every answer carries permits scripts, styles and
// pictures of this server only, and Trusted Types keep scripts from parsing HTML
// (their one policy names the worker).
//
// A browser is admitted by a link that holds for one use and five minutes (see
// [Server.Link]); it then has a cookie that other sites cannot send. Requests
// that change something must come from the page itself.
package web
