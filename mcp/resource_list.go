package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/notes"
)

// A listCursor is a place in resources/list: how many notes were listed before,
// and where the vault's own list goes on.
type listCursor struct {
	Listed int    `json:"n"`
	Vault  string `json:"c"`
}

func (c listCursor) String() string {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err) // a number and a string
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func badCursor(method string) error {
	return invalidParams("the cursor is not one that %s returned; leave it out to start from the beginning", method)
}

func parseListCursor(s string) (listCursor, error) {
	var c listCursor
	if s == "" {
		return c, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.Vault == "" || c.Listed < 1 {
		return c, badCursor(methodListResources)
	}
	return c, nil
}

// listResources answers resources/list: the fixed resources and then notes, the
// most recently changed first, page by page from the store. Clients read lists
// whole, some give up after 64 pages, and all pay for it with memory, so the
// list ends at a limit; every note can be read through the template all the
// same.
func (s *session) listResources(ctx context.Context, params *sdk.ListResourcesParams) (sdk.Result, error) {
	var at listCursor
	var err error
	if params != nil {
		if at, err = parseListCursor(params.Cursor); err != nil {
			return nil, err
		}
	}
	limit := min(s.limits.PageSize, s.limits.Resources-at.Listed)
	if limit <= 0 {
		return s.resourcePage(nil, ""), nil
	}
	page, err := s.core.opts.Vault.List(ctx, notes.ListQuery{
		Filter: notes.Filter{Scope: s.bounds().Read}, Limit: limit, Cursor: at.Vault,
	})
	if errors.Is(err, notes.ErrInvalid) {
		return nil, badCursor(methodListResources)
	}
	if err != nil {
		return nil, err
	}
	resources := make([]*sdk.Resource, 0, len(page.Notes)+len(fixedResources))
	if at.Listed == 0 {
		resources = append(resources, fixedResources...)
		tables, err := s.tableResources(ctx)
		if err != nil {
			return nil, err
		}
		resources = append(resources, tables...)
	}
	for _, m := range page.Notes {
		resources = append(resources, noteResource(m))
	}
	next := ""
	if listed := at.Listed + len(page.Notes); page.Next != "" && listed < s.limits.Resources {
		next = listCursor{Listed: listed, Vault: page.Next}.String()
	}
	return s.resourcePage(resources, next), nil
}

func (s *session) resourcePage(resources []*sdk.Resource, next string) *sdk.ListResourcesResult {
	if resources == nil {
		resources = []*sdk.Resource{}
	}
	return &sdk.ListResourcesResult{
		Resources: resources, NextCursor: next, Cacheable: sdk.Cacheable{CacheScope: "private"},
	}
}

func noteResource(m notes.Meta) *sdk.Resource {
	return &sdk.Resource{
		URI: notes.URI(m.Path), Name: m.Path, Title: m.Title, MIMEType: markdownType, Size: m.Size,
		Annotations: &sdk.Annotations{LastModified: m.Modified.UTC().Format(time.RFC3339)},
	}
}
