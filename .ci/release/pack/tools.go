package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// tool is a tool in the server's list.
type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema struct {
		Properties map[string]struct {
			Type        string `json:"type"`
			Description string `json:"description"`
		} `json:"properties"`
		Required []string `json:"required"`
	} `json:"inputSchema"`
}

// listTools returns the tools that a program offers to hosts by default.
func listTools(program string) (tools []tool, err error) {
	dir, err := os.MkdirTemp("", "notesd-pack-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	vault := dir + "/vault"
	if err := os.Mkdir(vault, 0o700); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "mcp", "--in-process", "--vault", vault, "--state", dir+"/state")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pack","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewReader(out); tools == nil; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%w; it logged: %s", err, log.String())
		}
		var answer struct {
			ID     int `json:"id"`
			Result struct {
				Tools []tool `json:"tools"`
			} `json:"result"`
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return nil, err
		}
		if answer.ID == 2 && len(answer.Result.Tools) == 0 {
			return nil, fmt.Errorf("there are none: %s", line)
		}
		tools = answer.Result.Tools
	}
	return tools, errors.Join(in.Close(), cmd.Wait())
}
