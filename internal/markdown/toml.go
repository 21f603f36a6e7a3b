package markdown

import (
	"errors"
	"fmt"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// decodeTOML decodes the table in inner. An error comes with its line in inner, or 0.
func decodeTOML(inner []byte) (values map[string]any, line int, err error) {
	raw := map[string]any{}
	if err := toml.Unmarshal(inner, &raw); err != nil {
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = de.Position()
		}
		return nil, line, fmt.Errorf("TOML: %w", err)
	}
	value, err := tomlValue(raw, 0)
	if err != nil {
		return nil, 0, err
	}
	return value.(map[string]any), 0, nil
}

// tomlValue converts a value decoded by the library to a JSON-safe one.
func tomlValue(value any, depth int) (any, error) {
	if depth > MaxNesting {
		return nil, errTooDeep
	}
	switch v := value.(type) {
	case map[string]any:
		for k, item := range v {
			safe, err := tomlValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			v[k] = safe
		}
		return v, nil
	case []any:
		for i, item := range v {
			safe, err := tomlValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			v[i] = safe
		}
		return v, nil
	case float64:
		return finite(v, fmt.Sprint(v)), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case fmt.Stringer: // local dates and times
		return v.String(), nil
	}
	return value, nil
}
