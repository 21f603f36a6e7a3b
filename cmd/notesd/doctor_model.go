package main

import (
	"fmt"

	"notesd/internal/config"
)

// checkModel reads the whole model that runs in this program and compares it
// with its checksum. Opening one checks its structure only.
func checkModel(s config.Semantic) []check {
	if s.Provider != "builtin" {
		return nil
	}
	c := check{Name: "model", State: fine}
	m, where, err := builtin(builtinSource(s.Model))
	if err == nil {
		c.Text = fmt.Sprintf("%s, %s, runs on %s", m.Name(), where, m.Tier())
		err = m.Verify()
	}
	if err != nil {
		f := failureOf(modelFailure(s.Model, err))
		c.State, c.Text, c.Do = problem, f.Message, f.Hint
	}
	if m != nil {
		_ = m.Close() // it was only read
	}
	return []check{c}
}

// checkMeaning judges what a report has on semantic search.
func checkMeaning(r report, daemon bool) check {
	c := check{Name: "meaning", State: fine, Text: r.semanticText()}
	switch {
	case r.Semantic.Waiting != "":
		return check{"meaning", problem, r.Semantic.Waiting, "Searches are by words alone until then."}
	case daemon:
	case !r.counted() || r.Semantic.Pending > 0:
		c.State, c.Do = remark, "A daemon embeds the rest while it runs; notesd index --wait does it now."
	}
	return c
}
