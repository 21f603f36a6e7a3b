package main

import (
	"testing"
	"time"

	"notesd/internal/mirror"
	"notesd/internal/service"
	"notesd/mcp"
	"notesd/vectors"

	"github.com/stretchr/testify/assert"
)

func TestStatusTexts(t *testing.T) {
	for want, r := range map[string]service.Report{
		"53 notes, up to date":                           {Notes: 53, Index: service.IndexStatus{Notes: 53, Ready: true}},
		"building: 12 of 53 files read, 0 notes indexed": {Index: service.IndexStatus{Scanned: 12, ToScan: 53}},
		"building: 0 of 53 notes indexed":                {Notes: 53, Index: service.IndexStatus{Scanned: 53, ToScan: 53}},
		"building: 7 of 53 notes indexed":                {Notes: 53, Index: service.IndexStatus{Notes: 7}},
	} {
		assert.Equal(t, want, indexText(r))
	}
	for want, r := range map[string]service.Report{
		"off": {Notes: 3, Semantic: vectors.Status{State: "off"}},
		"building, m: the passages are not counted yet":      {Notes: 3, Semantic: vectors.Status{State: "building", Model: "m"}},
		"building, m: 0 of 9 passages embedded":              {Notes: 3, Semantic: vectors.Status{State: "building", Model: "m", Chunks: 9, Pending: 9}},
		"ready, m: 0 of 0 passages embedded":                 {Semantic: vectors.Status{State: "ready", Model: "m"}},
		"building: the model is chosen after the first scan": {Notes: 3, Semantic: vectors.Status{State: "building", Pending: 1}},
		"building, m: 1 of 9 passages embedded; until then n answers; chosen by language: of this": {Notes: 3,
			Semantic: vectors.Status{State: "building", Model: "m", Chunks: 9, Embedded: 1, Pending: 8, Answering: "n", Why: "of this"}},
	} {
		assert.Equal(t, want, semanticText(r))
	}
	for want, shared := range map[string]mirror.Status{
		"p, in step up to change 7, 2 files pending":           {Place: "p", Seq: 7, Pending: 2},
		"p, not all files are fetched yet, 1500 files pending": {Place: "p", Pending: 1500, Fetching: true},
	} {
		assert.Equal(t, want, sharedText(shared))
	}
	waits := service.Report{Notes: 3, Semantic: vectors.Status{State: "building", Chunks: 9, Pending: 9}}
	assert.Equal(t, remark, checkMeaning(waits, false).State, "nothing embeds them now")
	assert.Equal(t, fine, checkMeaning(waits, true).State)
}

func TestClientTexts_OneLinePerClient(t *testing.T) {
	at := time.Date(2026, 2, 16, 9, 30, 0, 0, time.Local)
	cursor := mcp.Client{Name: "cursor", Version: "3", Since: at}
	page := mcp.Client{Name: "page", Since: at.Add(time.Hour), HTTP: true, Profile: mcp.Profile{ReadOnly: true}}
	later := page
	later.Since = at.Add(time.Minute * 90)
	assert.Equal(t, []string{"cursor 3 since 2026-02-16 09:30", "page since 2026-02-16 10:30, read-only (2 sessions)"},
		clientTexts([]mcp.Client{cursor, page, {Name: "notesd", Since: at, Command: true}, later}))
}
