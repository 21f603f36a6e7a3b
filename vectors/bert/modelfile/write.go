package modelfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Encode returns a model file. Equal arguments give identical bytes. It fails if the
// sections are not those that the configuration implies.
func Encode(c Config, sections map[string][]byte) ([]byte, error) {
	names := slices.Sorted(maps.Keys(sections))
	h := header{Config: c, Contents: digest(names, sections), Sections: make([]section, len(names))}
	// The header contains the offsets, whose digits change the header's length:
	// repeat until the length is stable.
	var encoded []byte
	for length := 0; ; length = len(encoded) {
		at := headerAt + length
		for i, name := range names {
			at = (at + alignment - 1) / alignment * alignment
			h.Sections[i] = section{name, at, len(sections[name])}
			at += len(sections[name])
		}
		var err error
		if encoded, err = json.Marshal(h); err != nil {
			return nil, fmt.Errorf("modelfile: %w", err)
		}
		if len(encoded) == length {
			break
		}
	}
	file := assemble(encoded, h.Sections, sections)
	if _, err := Read(file); err != nil {
		return nil, fmt.Errorf("modelfile: encoding: %w", err)
	}
	return file, nil
}

func assemble(encoded []byte, layout []section, sections map[string][]byte) []byte {
	var b bytes.Buffer
	b.WriteString(magic)
	b.Write(binary.LittleEndian.AppendUint32(nil, version))
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(encoded))))
	b.Write(make([]byte, sha256.Size))
	b.Write(encoded)
	for _, s := range layout {
		b.Write(make([]byte, s.Offset-b.Len()))
		b.Write(sections[s.Name])
	}
	file := b.Bytes()
	sum := sha256.Sum256(file[digestEnd:])
	copy(file[digestAt:], sum[:])
	return file
}

// digest returns the SHA-256 of the sections' names, lengths and contents.
func digest(names []string, sections map[string][]byte) string {
	hash := sha256.New()
	for _, name := range names {
		fmt.Fprintf(hash, "%s %d\n", name, len(sections[name]))
		hash.Write(sections[name])
	}
	return hex.EncodeToString(hash.Sum(nil))
}
