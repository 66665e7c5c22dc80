// Package drives holds the drive models that come with nativ, so that a
// simulation needs nothing but the program.
package drives

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

// The names of models have a hyphen; what else lies here has none.
//
//go:embed *-*.json
var models embed.FS

// Model returns the file of a model by its name, with or without .json, and the
// file's whole name; false where there is none.
func Model(name string) (b []byte, file string, ok bool) {
	file = strings.TrimSuffix(name, ".json") + ".json"
	if path.Base(file) != file {
		return nil, "", false
	}
	b, err := models.ReadFile(file)
	return b, file, err == nil
}

// Models lists the names without .json.
func Models() (names []string) {
	all, err := fs.Glob(models, "*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, f := range all {
		names = append(names, strings.TrimSuffix(f, ".json"))
	}
	return names
}
