package main

import (
	"github.com/spf13/cobra"
)

// completeWords completes an argument with one of a few words.
func completeWords(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}
