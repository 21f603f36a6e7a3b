package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/unicode/norm"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/notes"
)

// URIs of resources other than notes.
const (
	recentURI   = "notes://recent"
	overviewURI = "notes://overview"
	tagPrefix   = "notes://tags/"
)

const markdownType = "text/markdown"

var noteTemplate = &sdk.ResourceTemplate{
	Name: "note", Title: "Note", URITemplate: "note:///{+path}", MIMEType: markdownType,
	Description: "A note by its path in the vault, each segment percent-encoded.",
}

// attachmentTemplate covers the same URIs as noteTemplate; file names distinguish notes
// from other files.
var attachmentTemplate = &sdk.ResourceTemplate{
	Name: "attachment", Title: "Attachment", URITemplate: "note:///{+attachment}",
	Description: "A file that a note links to, such as a picture or a PDF, by its path in the vault; read_note and note_links name its URI. It is read as a blob.",
}

var tagTemplate = &sdk.ResourceTemplate{
	Name: "tag", Title: "Notes with a tag", URITemplate: "notes://tags/{tag}", MIMEType: markdownType,
	Description: "The notes that have a tag or one nested in it.",
}

var fixedResources = []*sdk.Resource{
	{URI: recentURI, Name: "recent", Title: "Recently changed notes", MIMEType: markdownType, Description: "The fifty notes that changed last."},
	{URI: overviewURI, Name: "overview", Title: "Overview of the vault", MIMEType: markdownType, Description: "Counts, folders, tags and the newest notes."},
}

// resources answers requests for resources.
type resources struct{ *session }

func (s *session) resources() resources { return resources{s} }

// addResources registers fixed resources and templates. Notes are listed by listResources
// and read through the template.
func (s resources) addResources(server *sdk.Server) {
	for _, r := range fixedResources {
		server.AddResource(r, s.readResource)
	}
	server.AddResource(panelResource, readPanel)
	server.AddResourceTemplate(noteTemplate, s.readResource)
	server.AddResourceTemplate(attachmentTemplate, s.readResource)
	server.AddResourceTemplate(tagTemplate, s.readResource)
	if s.core.opts.Tables != nil {
		server.AddResourceTemplate(tableTemplate, s.readResource)
	}
}

// listResources answers resources/list: the fixed resources, then notes, most recently
// changed first, in pages from the store. Clients read the whole list into memory, and some
// give up after 64 pages, so the list ends at a limit; all notes can be read through the
// template.
func (s resources) listResources(ctx context.Context, params *sdk.ListResourcesParams, panel bool) (sdk.Result, error) {
	// A cursor is the number of notes listed so far, followed by the vault's own cursor.
	listed, cursor := 0, ""
	if params != nil && params.Cursor != "" {
		var count string
		count, cursor, _ = strings.Cut(params.Cursor, ".")
		if listed, _ = strconv.Atoi(count); listed < 1 || cursor == "" {
			return nil, badCursor(methodListResources)
		}
	}
	limit := max(1, min(s.core.limits.PageSize, s.core.limits.Resources-listed))
	page, err := s.core.opts.Vault.List(ctx, notes.ListQuery{
		Filter: notes.Filter{Scope: s.bounds().Read}, Limit: limit, Cursor: cursor,
	})
	if err != nil {
		return nil, err
	}
	resources := make([]*sdk.Resource, 0, len(page.Notes)+len(fixedResources))
	if listed == 0 {
		resources = append(resources, fixedResources...)
		if panel {
			resources = append(resources, panelResource)
		}
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
	if listed += len(page.Notes); page.Next != "" && listed < s.core.limits.Resources {
		next = fmt.Sprintf("%d.%s", listed, page.Next)
	}
	return &sdk.ListResourcesResult{Resources: resources, NextCursor: next, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

func badCursor(method string) error {
	return invalidParams("the cursor was not returned by %s; omit it to start from the beginning", method)
}

func noteResource(m notes.Meta) *sdk.Resource {
	return &sdk.Resource{
		URI: notes.URI(m.Path), Name: m.Path, Title: m.Title, MIMEType: markdownType, Size: m.Size,
		Annotations: &sdk.Annotations{LastModified: m.Modified.UTC().Format(time.RFC3339)},
	}
}

// revision separates the canonical URI of a note from the beginning of the hash of one of
// its versions. A canonical URI has no question mark.
const revision = "?rev="

// readResources accepts any spelling of a resource's URI, and responds with the URI as the
// client wrote it.
func (s resources) readResources(ctx context.Context, req sdk.Request, params *sdk.ReadResourceParams, next sdk.MethodHandler) (sdk.Result, error) {
	asked := params.URI
	whole, part := s.partOf(ctx, asked)
	var err error
	if params.URI, err = canonicalURI(whole); err != nil {
		return nil, s.resourceError(ctx, err, asked, isModern(req))
	}
	if rev := notes.RevisionOf(asked); rev != "" && whole != asked && isNote(params.URI) {
		params.URI += revision + rev
	}
	res, err := next(ctx, methodReadResource, req)
	if err != nil {
		return nil, s.resourceError(ctx, err, asked, isModern(req))
	}
	result := res.(*sdk.ReadResourceResult)
	for _, c := range result.Contents {
		if c.Blob == nil && part != (notes.Anchor{}) {
			if c.Text, err = tools.Part(c.Text, part); err != nil {
				return nil, s.resourceError(ctx, err, asked, isModern(req))
			}
		}
		c.URI = asked
		if c.Text == "" && c.Blob == nil {
			return &emptyTextResult{result}, nil
		}
	}
	return result, nil
}

// canonicalURI returns the canonical spelling of a resource's URI: percent-encoded, NFC,
// lower-case scheme. The error is a *notes.Error.
func canonicalURI(uri string) (string, error) {
	if notes.IsURI(uri) {
		path, err := notes.ParseURI(uri)
		if err != nil {
			return "", err
		}
		return notes.URI(path), nil
	}
	lower := strings.ToLower(uri)
	switch {
	case isTableURI(uri):
		name, err := unescaped(uri, tablePrefix)
		return tableURI(norm.NFC.String(name)), err
	case lower == recentURI || lower == overviewURI:
		return lower, nil
	case strings.HasPrefix(lower, tagPrefix) && len(uri) > len(tagPrefix):
		tag, err := unescaped(uri, tagPrefix)
		return tagPrefix + url.PathEscape(norm.NFC.String(strings.TrimPrefix(tag, "#"))), err
	}
	return "", &notes.Error{Op: "read", Path: uri, Err: notes.ErrNotFound, Detail: "there is no such resource"}
}

// unescaped decodes the rest of a URI behind a prefix, which may be in another case.
func unescaped(uri, prefix string) (string, error) {
	name, err := url.PathUnescape(uri[len(prefix):])
	if err != nil {
		err = &notes.Error{Op: "read", Path: uri, Err: notes.ErrInvalid, Detail: "broken percent-encoding in the URI"}
	}
	return name, err
}

// partOf splits a URI that names lines or a section of a note, as in
// note:///Plan.md?rev=1a2b3c#L12-L18, into the note's own URI and the part. Such characters may
// also be an unescaped part of a name: a note with the whole name takes precedence.
func (s resources) partOf(ctx context.Context, uri string) (whole string, part notes.Anchor) {
	base, part := notes.SplitAnchor(uri)
	if !notes.IsURI(uri) || base == uri {
		return uri, notes.Anchor{}
	}
	if name, err := notes.ParseURI(uri); err == nil {
		if m, err := s.core.opts.Vault.Lookup(ctx, notes.URI(name), s.bounds().scope()); err == nil && m.Path == name {
			return uri, notes.Anchor{}
		}
	}
	return base, part
}

// emptyTextResult is the content of an empty note. The SDK omits an empty text, and clients
// reject contents with neither a text nor a blob.
type emptyTextResult struct{ *sdk.ReadResourceResult }

func (r *emptyTextResult) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(r.ReadResourceResult)
	return bytes.Replace(data, []byte(`"contents":[{`), []byte(`"contents":[{"text":"",`), 1), err
}

// readResource reads the resource with the URI of the request, which readResources has made
// canonical.
func (s resources) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	contents, err := s.contents(ctx, req.Params.URI)
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// version returns the version of a note whose hash begins with rev.
func (s resources) version(ctx context.Context, uri, rev string) (*sdk.ResourceContents, error) {
	scope := s.bounds().scope()
	n, err := s.core.opts.Vault.Read(ctx, uri, scope) // the file, which may be newer than the store
	if err == nil && strings.HasPrefix(n.Hash, rev) {
		return s.noteContents(uri, n), nil
	}
	text, err := s.core.opts.History.Version(ctx, uri, rev, scope)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, &notes.Error{Op: "read", Path: uri, Err: notes.ErrNotFound, Detail: "history does not have this version of the note", Hint: "Read " + uri + " for the present one."}
	}
	return &sdk.ResourceContents{URI: uri, MIMEType: markdownType, Text: string(text), Meta: sdk.Meta{"size": len(text), "hash": notes.Hash(text)}}, nil
}

// noteContents returns the present version of a note, which the session has now seen.
func (s resources) noteContents(uri string, n *notes.Note) *sdk.ResourceContents {
	s.seen.Read(n.Path, n.Hash)
	return &sdk.ResourceContents{
		URI: uri, MIMEType: markdownType, Text: n.Content,
		Meta: sdk.Meta{"size": n.Size, "lastModified": n.Modified.UTC().Format(time.RFC3339), "hash": n.Hash},
	}
}

// contents returns the content of the resource with a canonical URI: a blob for an
// attachment, otherwise a text. A note's URI may name a version.
func (s resources) contents(ctx context.Context, uri string) (*sdk.ResourceContents, error) {
	if uri, rev, ok := strings.Cut(uri, revision); ok {
		return s.version(ctx, uri, rev)
	}
	vault, scope := s.core.opts.Vault, s.bounds().scope()
	c, err := &sdk.ResourceContents{URI: uri, MIMEType: markdownType}, error(nil)
	switch {
	case isAttachment(uri):
		a, err := vault.Attachment(ctx, uri, scope)
		if err != nil {
			return nil, err
		}
		c.MIMEType, c.Blob = a.MediaType, append([]byte{}, a.Data...) // not nil, which would mean a text
		c.Meta = sdk.Meta{"size": a.Size, "lastModified": a.Modified.UTC().Format(time.RFC3339)}
	case notes.IsURI(uri):
		note, err := vault.Read(ctx, uri, scope)
		if err != nil {
			return nil, err
		}
		return s.noteContents(uri, note), nil
	case isTableURI(uri):
		c.MIMEType = jsonType
		c.Text, err = s.tableText(ctx, uri)
	case uri == recentURI:
		c.Text, err = s.noteList(ctx, "Recently changed notes", notes.Filter{})
	case uri == overviewURI:
		var out tools.Overview
		out, err = tools.NewOverview(ctx, s.env())
		c.Text = out.Text()
	default:
		var tag string
		if tag, err = url.PathUnescape(strings.TrimPrefix(uri, tagPrefix)); err == nil {
			c.Text, err = s.noteList(ctx, "Notes tagged #"+tag, notes.Filter{Tags: []string{tag}})
		}
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// noteList returns a Markdown list of notes with their URIs, newest first.
func (s resources) noteList(ctx context.Context, heading string, f notes.Filter) (string, error) {
	const most = 50
	f.Scope = s.bounds().Read
	page, err := s.core.opts.Vault.List(ctx, notes.ListQuery{Filter: f, Limit: most})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%d of %s\n\n", phrase.OneLine(heading), len(page.Notes), phrase.Count(page.Total, "note"))
	escape := strings.NewReplacer("[", `\[`, "]", `\]`)
	for _, m := range page.Notes {
		fmt.Fprintf(&b, "- [%s](%s) %s\n", escape.Replace(phrase.OneLine(m.Title)), notes.URI(m.Path), m.Modified.UTC().Format(time.RFC3339))
	}
	return b.String(), nil
}

// isNote reports whether a canonical URI names a note. The vault reports changes of notes;
// other resources are compared with their last content.
func isNote(uri string) bool { return notes.IsURI(uri) && !isAttachment(uri) }

// isAttachment reports whether a canonical URI names a file other than a note.
func isAttachment(uri string) bool {
	if !notes.IsURI(uri) {
		return false
	}
	p, err := notes.ParseURI(uri)
	return err == nil && !notes.IsNoteName(p)
}
