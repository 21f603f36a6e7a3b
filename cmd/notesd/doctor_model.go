package main

import (
	"fmt"

	"notesd/internal/config"
	"notesd/vectors/bert"
	"notesd/vectors/model"
)

// checkModel reads the whole model that runs in this program and compares it
// with its checksum. Opening one checks its structure only.
func checkModel(s config.Semantic) []check {
	if s.Provider != "builtin" {
		return nil
	}
	c := check{Name: "model", State: fine}
	open, where := model.Default, "in the program"
	if s.Model != "" {
		open, where = func() (*bert.Model, error) { return bert.OpenFile(s.Model) }, s.Model
	}
	m, err := open()
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

// checkMeaning judges what a status tells of the search by meaning.
func checkMeaning(s semanticStatus) check {
	if s.Waiting != "" {
		return check{"meaning", problem, s.Waiting, "Searches are by words alone until then."}
	}
	return check{Name: "meaning", State: fine, Text: s.text()}
}
