//go:build unix

package service

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Connections over HTTP leave files for the vault and the socket.
func TestHTTPConnectionsLeaveFiles(t *testing.T) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)) }()
	low := limit
	low.Cur = 1024
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	assert.Equal(t, 256, mostConnections())
}
