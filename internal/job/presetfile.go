package job

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed presets/*.fio
var presetFiles embed.FS

// PresetNames lists the embedded job files, in alphabetical order.
func PresetNames() []string {
	entries, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic(err) // embedded when this was built
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".fio"))
	}
	return names
}

// PresetFile returns an embedded job file, which runs unchanged in fio, or an
// error that lists the names there are.
func PresetFile(name string) ([]byte, error) {
	b, err := presetFiles.ReadFile("presets/" + name + ".fio")
	if err != nil {
		return nil, fmt.Errorf("there is no job file %q; there are: %s", name, strings.Join(PresetNames(), ", "))
	}
	return b, nil
}

// ParsePreset parses an embedded job file.
func ParsePreset(name string) (*File, error) {
	return Parse(Options{ReadFile: PresetFile}, name)
}
