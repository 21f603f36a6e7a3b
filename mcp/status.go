package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MethodStatus is the one method that notesd adds to the protocol: what
// "notesd status" shows. Its clients are notesd's own commands.
const MethodStatus = "notesd/status"

type statusParams struct{ sdk.ParamsBase }

// statusResult is whatever the core's owner has to tell.
type statusResult struct {
	sdk.ResultBase
	value any
}

func (r *statusResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.value) }

// addStatus registers the method. A session that may not see all folders does
// not have it, because the status counts and names what is in them.
func (s *session) addStatus(server *sdk.Server) {
	status := s.core.opts.Status
	if status == nil || s.profile.Read != nil {
		return
	}
	err := sdk.AddReceivingCustomMethod(server, MethodStatus,
		func(ctx context.Context, _ *sdk.ServerSession, _ *statusParams) (*statusResult, error) {
			value, err := status(ctx)
			if err != nil {
				return nil, err
			}
			return &statusResult{value: value}, nil
		})
	if err != nil {
		panic(err) // the method's name is ours
	}
}
