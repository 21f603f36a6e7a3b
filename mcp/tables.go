package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/unicode/norm"

	"notesd/notes"
	"notesd/prompts"
	"notesd/vectors/table"
)

const (
	tablePrefix = "vectors:///"
	jsonType    = "application/json"
)

// Kinds of values used only by arguments of resource templates.
const (
	tableName      prompts.Kind = "table"
	attachmentName prompts.Kind = "attachment"
)

var tableTemplate = &sdk.ResourceTemplate{
	Name: "table", Title: "Vector table", URITemplate: "vectors:///{table}", MIMEType: jsonType,
	Description: "What a vector table is, and the ids of its newest rows.",
}

// tableNames returns the values for the template's argument.
func (s resources) tableNames(ctx context.Context) ([]string, error) {
	resources, err := s.tableResources(ctx)
	names := make([]string, len(resources))
	for i, r := range resources {
		names[i] = r.Name
	}
	return names, err
}

// tableResources lists the tables as resources.
func (s resources) tableResources(ctx context.Context) ([]*sdk.Resource, error) {
	if s.core.opts.Tables == nil {
		return nil, nil
	}
	infos, err := s.core.opts.Tables.List(ctx)
	if err != nil {
		return nil, err
	}
	resources := make([]*sdk.Resource, len(infos))
	for i, info := range infos {
		resources[i] = &sdk.Resource{URI: tableURI(info.Name), Name: info.Name, Title: "Vector table " + info.Name, MIMEType: jsonType}
	}
	return resources, nil
}

// A tableDescription is the content of a table's resource.
type tableDescription struct {
	table.Item
	Created   string   `json:"created"`
	SampleIDs []string `json:"sample_ids"` // of the newest rows
}

// tableText returns the content of a table's resource.
func (s resources) tableText(ctx context.Context, uri string) (string, error) {
	const sample = 10
	name, err := url.PathUnescape(strings.TrimPrefix(uri, tablePrefix))
	if err != nil {
		return "", err
	}
	info, ids, err := s.core.opts.Tables.Describe(ctx, name, sample)
	if err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(tableDescription{
		Item: info.Item, Created: info.Created.UTC().Format(time.RFC3339), SampleIDs: append([]string{}, ids...),
	}, "", "  ")
	return string(data), err
}

// canonicalTableURI returns the canonical spelling of a table's URI.
func canonicalTableURI(uri string) (string, error) {
	name, err := url.PathUnescape(uri[len(tablePrefix):])
	if err != nil {
		return "", &notes.Error{Op: "read", Path: uri, Err: notes.ErrInvalid, Detail: "broken percent-encoding in the URI"}
	}
	return tableURI(norm.NFC.String(name)), nil
}

func tableURI(name string) string { return tablePrefix + url.PathEscape(name) }

func isTableURI(uri string) bool {
	return len(uri) > len(tablePrefix) && strings.EqualFold(uri[:len(tablePrefix)], tablePrefix)
}
