package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStatusTexts(t *testing.T) {
	for want, r := range map[string]report{
		"53 notes, up to date":                           {Notes: 53, Index: indexStatus{Notes: 53, Ready: true}},
		"building: 12 of 53 files read, 0 notes indexed": {Index: indexStatus{Scanned: 12, ToScan: 53}},
		"building: 0 of 53 notes indexed":                {Notes: 53, Index: indexStatus{Scanned: 53, ToScan: 53}},
		"building: 7 of 53 notes indexed":                {Notes: 53, Index: indexStatus{Notes: 7}},
	} {
		assert.Equal(t, want, r.indexText())
	}
	for want, r := range map[string]report{
		"off": {Notes: 3, Semantic: semanticStatus{State: "off"}},
		"building, m: the passages are not counted yet": {Notes: 3, Semantic: semanticStatus{State: "building", Model: "m"}},
		"building, m: 0 of 9 passages embedded":         {Notes: 3, Semantic: semanticStatus{State: "building", Model: "m", Chunks: 9, Pending: 9}},
		"ready, m: 0 of 0 passages embedded":            {Semantic: semanticStatus{State: "ready", Model: "m"}},
	} {
		assert.Equal(t, want, r.semanticText())
	}
	waits := report{Notes: 3, Semantic: semanticStatus{State: "building", Chunks: 9, Pending: 9}}
	assert.Equal(t, remark, checkMeaning(waits, false).State, "nothing embeds them now")
	assert.Equal(t, fine, checkMeaning(waits, true).State)
}
