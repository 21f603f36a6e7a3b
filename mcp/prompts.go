package mcp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"notesd/internal/phrase"
	"notesd/mcp/tools"
	"notesd/notes"
	"notesd/prompts"
	"notesd/search"
)

// addPrompts registers the built-in prompts. The user's own come when prompts
// are first asked for: to read them the vault has to be open, for which no
// handshake waits.
func (s *session) addPrompts(server *sdk.Server) {
	if catalogue := s.catalogue; catalogue != nil {
		s.prompts = make(map[string]string)
		s.setPrompts(server, catalogue.Builtins())
	}
}

// refreshPrompts registers the catalogue as it is now, and reports whether it
// has changed. The SDK tells the client.
func (s *session) refreshPrompts(ctx context.Context) (bool, error) {
	if !s.templated() {
		return false, nil
	}
	list, err := s.catalogue.List(ctx)
	if err != nil {
		return false, err
	}
	s.promptsMu.Lock()
	defer s.promptsMu.Unlock()
	return s.setPrompts(s.server, list), nil
}

// setPrompts makes the server's prompts those of the list.
func (s *session) setPrompts(server *sdk.Server, list []prompts.Prompt) (changed bool) {
	gone := make(map[string]bool)
	for name := range s.prompts {
		gone[name] = true
	}
	for _, p := range list {
		delete(gone, p.Name)
		text, err := json.Marshal(p)
		if err != nil || s.prompts[p.Name] == string(text) {
			continue
		}
		s.prompts[p.Name] = string(text)
		server.AddPrompt(promptDefinition(p), s.getPrompt)
		changed = true
	}
	for name := range gone {
		delete(s.prompts, name)
		server.RemovePrompts(name)
		changed = true
	}
	return changed
}

func promptDefinition(p prompts.Prompt) *sdk.Prompt {
	def := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	for _, a := range p.Arguments {
		title := strings.ReplaceAll(a.Name, "_", " ")
		def.Arguments = append(def.Arguments, &sdk.PromptArgument{
			Name: a.Name, Title: strings.ToUpper(title[:1]) + title[1:], Description: a.Description, Required: a.Required,
		})
	}
	return def
}

func (s *session) getPrompt(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	r, err := s.catalogue.Render(ctx, req.Params.Name, req.Params.Arguments, s.bounds().scope())
	if err != nil {
		return nil, err
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
		contents.Blob = []byte{} // the SDK would leave an empty text out, and contents need one or the other
	}
	return &sdk.EmbeddedResource{Resource: contents}
}

// findPrompt returns the prompt with a name, or an error that says which there
// are.
func (s *session) findPrompt(ctx context.Context, name string) (prompts.Prompt, error) {
	catalogue := s.catalogue
	if catalogue == nil {
		return prompts.Prompt{}, invalidParams("there are no prompts here")
	}
	list, err := catalogue.List(ctx)
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

// checkPrompt refuses an unknown prompt and a missing argument, which the SDK
// does not check.
func (s *session) checkPrompt(ctx context.Context, params *sdk.GetPromptParams) error {
	p, err := s.findPrompt(ctx, params.Name)
	if err != nil {
		return err
	}
	if missing := p.Missing(params.Arguments); missing != "" {
		return invalidParams("the prompt %q needs the argument %q", p.Name, missing)
	}
	_, err = s.refreshPrompts(ctx)
	return err
}

// promptsChanged notifies the client if the user's prompts have changed.
func (s *session) promptsChanged(ctx context.Context) {
	changed, err := s.refreshPrompts(ctx)
	if err != nil {
		s.log.Warn("cannot read the prompts folder", "error", err)
	}
	if !changed || s.line == nil {
		return
	}
	s.mu.Lock()
	var changes []*sdk.PromptListChangedParams
	for w := range s.watches {
		if w.prompts {
			changes = append(changes, &sdk.PromptListChangedParams{Meta: w.meta()})
		}
	}
	s.mu.Unlock()
	for _, params := range changes {
		s.out(notePromptsChanged, params)
	}
}

// Passages adapts a search engine for the prompt catalogue.
type Passages struct {
	Engine tools.Searcher
	Mode   search.Mode
}

// Passages returns the best passage of each note that matches the query, and
// not weakly.
func (p Passages) Passages(ctx context.Context, query prompts.Query, f notes.Filter, limit int) ([]notes.Passage, error) {
	text := query.Text
	if !query.Operators {
		text = tools.PlainWords(text)
	}
	res, err := p.Engine.Search(ctx, search.Query{Text: text, Mode: p.Mode, Filter: f, Limit: limit})
	if err != nil {
		return nil, err
	}
	passages := []notes.Passage{}
	for _, h := range res.Hits {
		if h.Weak && (res.Weak || res.Semantic.State == search.StateReady) {
			continue
		}
		passages = append(passages, notes.Passage{NoteID: h.NoteID, Path: h.Path, Title: h.Title, Heading: h.Heading,
			LineStart: h.LineStart, LineEnd: h.LineEnd, Text: h.Snippet})
	}
	return passages, nil
}
