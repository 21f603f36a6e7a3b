package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// sessionPrompts are the prompts that a session offers. They may change at any time, so the
// session lists and finds them itself; the SDK has a single prompt, to which every
// prompts/get is routed.
type sessionPrompts struct{ *session }

func (s *session) prompts() sessionPrompts { return sessionPrompts{s} }

const routedPrompt = "prompt"

// listPrompts answers prompts/list, in one page.
func (s sessionPrompts) listPrompts(ctx context.Context, params *sdk.ListPromptsParams) (sdk.Result, error) {
	if params != nil && params.Cursor != "" {
		return nil, badCursor("prompts/list")
	}
	if err := Await(ctx, s.core.opts.Opened); err != nil {
		return nil, err
	}
	list, err := s.profile.Prompts.List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b prompts.Prompt) int { return strings.Compare(a.Name, b.Name) })
	definitions := make([]*sdk.Prompt, len(list))
	for i, p := range list {
		definitions[i] = promptDefinition(p)
	}
	return &sdk.ListPromptsResult{Prompts: definitions, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

func promptDefinition(p prompts.Prompt) *sdk.Prompt {
	def := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		title := strings.ReplaceAll(a.Name, "_", " ")
		_, first := utf8.DecodeRuneInString(title)
		def.Arguments = append(def.Arguments, &sdk.PromptArgument{
			Name: a.Name, Title: strings.ToUpper(title[:first]) + title[first:], Description: a.Description, Required: a.Required,
		})
	}
	return def
}

// choose returns the context for a prompts/get. It rejects an unknown prompt. Templates are
// read here, once per request.
func (s sessionPrompts) choose(ctx context.Context, params *sdk.GetPromptParams) (context.Context, error) {
	p, err := s.find(ctx, params.Name)
	if err != nil {
		return nil, err
	}
	params.Name = routedPrompt
	return context.WithValue(ctx, promptKey{}, p), nil
}

// promptKey is the context key of the [prompts.Prompt] of a prompts/get.
type promptKey struct{}

// find returns the prompt with the name, or an error that suggests existing ones.
func (s sessionPrompts) find(ctx context.Context, name string) (prompts.Prompt, error) {
	list, err := s.profile.Prompts.List(ctx)
	if err != nil {
		return prompts.Prompt{}, err
	}
	names := make([]string, len(list))
	for i, p := range list {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	if near := phrase.Nearest(phrase.SnakeCase(name), names); near != "" {
		return prompts.Prompt{}, invalidParams("unknown prompt %q: did you mean %q?", phrase.Clip(name, 100), near)
	}
	return prompts.Prompt{}, invalidParams("unknown prompt %q: there are %s", phrase.Clip(name, 100), strings.Join(names, ", "))
}

func (s sessionPrompts) get(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	r, err := s.profile.Prompts.Render(ctx, ctx.Value(promptKey{}).(prompts.Prompt), req.Params.Arguments, s.bounds().scope())
	if err != nil {
		return nil, err
	}
	for path, hash := range r.Versions {
		s.seen.Read(path, hash)
	}
	messages := make([]*sdk.PromptMessage, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = &sdk.PromptMessage{Role: "user", Content: promptContent(m)}
	}
	return &sdk.GetPromptResult{Description: r.Description, Messages: messages}, nil
}

func promptContent(m prompts.Message) sdk.Content {
	if m.Resource == nil {
		return &sdk.TextContent{Text: m.Text}
	}
	contents := &sdk.ResourceContents{URI: m.Resource.URI, MIMEType: markdownType, Text: m.Resource.Text}
	if contents.Text == "" {
		contents.Blob = []byte{} // the SDK omits an empty text, and contents need a text or a blob
	}
	return &sdk.EmbeddedResource{Resource: contents}
}

// PromptSearch adapts a search engine to the prompt catalogue.
type PromptSearch struct {
	Engine tools.Searcher
	Mode   search.Mode
}

// Find returns the notes that match the query. It omits weak matches if all are weak or the
// embeddings are complete.
func (p PromptSearch) Find(ctx context.Context, query prompts.Query, f notes.Filter, limit int) (paths []string, err error) {
	text := query.Text
	if !query.Operators {
		text = tools.PlainWords(text)
	}
	res, err := p.Engine.Search(ctx, search.Query{Text: text, Mode: p.Mode, Filter: f, Limit: limit, FromPath: query.Of})
	if err != nil {
		return nil, err
	}
	for _, h := range res.Hits {
		if h.Path != query.Of && !(h.Weak && (res.Weak || res.Semantic.State == search.StateReady)) {
			paths = append(paths, h.Path)
		}
	}
	return paths, nil
}

// Templates returns the catalogues of the user's prompts that clients are offered, one for
// each folder, in the order of their folders.
func (c *Core) Templates() []*prompts.Catalogue {
	folders := map[string]*prompts.Catalogue{}
	add := func(catalogue *prompts.Catalogue) {
		if catalogue.Folder() != "" {
			folders[catalogue.Folder()] = catalogue
		}
	}
	add(c.profile.Load().Prompts) // of clients to come
	c.each(func(s *session) { add(s.profile.Prompts) })
	var list []*prompts.Catalogue
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		list = append(list, folders[name])
	}
	return list
}
