package mcp

import (
	"context"
	_ "embed"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCP Apps, specification 2026-01-26: a client that declares the extension shows the
// results of some tools in a page within the chat. Other clients are unaffected. The page,
// panel.html, receives a tool's result from the client and calls tools through it.
const (
	extensionUI = "io.modelcontextprotocol/ui"
	panelURI    = "ui://notesd/panel"
	panelType   = "text/html;profile=mcp-app"

	// metaPanel is the key in a result's _meta for [tools.Outcome.Panel].
	metaPanel = "notesd/panel"
)

//go:embed panel.html
var panelHTML string

var panelResource = &sdk.Resource{
	URI: panelURI, Name: "panel", Title: "Panel", MIMEType: panelType,
	Description: "Shows what searches found, the links around a note, and proposed edits.",
}

// readPanel returns the page. Its _meta lists no domains, so the client denies it network
// access.
func readPanel(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
		URI: panelURI, MIMEType: panelType, Text: panelHTML,
		Meta: sdk.Meta{"ui": map[string]any{"prefersBorder": true}},
	}}}, nil
}

// showsPanel reports whether the client that sent the request shows the panel.
func showsPanel(req sdk.Request) bool {
	r, ok := req.(introduced)
	return ok && declaresPanel(r.ClientCapabilities())
}

func declaresPanel(caps *sdk.ClientCapabilities) bool {
	if caps == nil {
		return false
	}
	settings, _ := caps.Extensions[extensionUI].(map[string]any)
	types, _ := settings["mimeTypes"].([]any)
	return slices.Contains(types, any(panelType))
}
