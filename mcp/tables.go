package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/prompts"
	"notesd/vectors/table"
)

const (
	tablePrefix = "vectors:///"
	jsonType    = "application/json"
)

// tableName is the kind of the values of the template's argument.
const tableName prompts.Kind = "table"

var tableTemplate = &sdk.ResourceTemplate{
	Name: "table", Title: "Vector table", URITemplate: "vectors:///{table}", MIMEType: jsonType,
	Description: "What a vector table is, and the ids of its newest rows.",
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
	name, err := unescaped(uri, tablePrefix)
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

func tableURI(name string) string { return tablePrefix + url.PathEscape(name) }

func isTableURI(uri string) bool {
	return len(uri) > len(tablePrefix) && strings.EqualFold(uri[:len(tablePrefix)], tablePrefix)
}
