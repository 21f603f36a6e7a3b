package mcp

import (
	"bytes"
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MethodStatus is the method behind "notesd status".
const MethodStatus = "notesd/status"

// A Method answers a method that notesd adds to the protocol. What it returns is
// encoded as the result, a JSON object; params is nil when there are none.
type Method func(ctx context.Context, params json.RawMessage) (any, error)

type methodParams struct {
	sdk.ParamsBase
	raw json.RawMessage
}

func (p *methodParams) UnmarshalJSON(data []byte) error {
	p.raw = bytes.Clone(data)
	return nil
}

type methodResult struct {
	sdk.ResultBase
	value any
}

func (r *methodResult) MarshalJSON() ([]byte, error) { return json.Marshal(r.value) }

// addMethods registers notesd's own methods. All are for the sessions of the
// owner's commands. The status is for others as well, unless they may not see
// all folders: it counts and names what is in them.
func (s *session) addMethods(server *sdk.Server) {
	methods := map[string]Method{}
	if s.profile.Owner {
		methods = s.core.opts.Methods
	} else if status := s.core.opts.Methods[MethodStatus]; status != nil && s.profile.Read == nil {
		methods[MethodStatus] = status
	}
	for name, method := range methods {
		err := sdk.AddReceivingCustomMethod(server, name,
			func(ctx context.Context, _ *sdk.ServerSession, p *methodParams) (*methodResult, error) {
				var raw json.RawMessage
				if p != nil {
					raw = p.raw
				}
				value, err := method(ctx, raw)
				if err != nil {
					return nil, err
				}
				return &methodResult{value: value}, nil
			})
		if err != nil {
			panic(err) // the names are notesd's own
		}
	}
}
