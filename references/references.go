// Package references holds results that others published, as data in the
// program. README.md beside it describes the files.
package references

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.json
var files embed.FS

// File returns the file of a reference by its name, without .json.
func File(name string) (b []byte, ok bool) {
	if path.Base(name) != name {
		return nil, false
	}
	b, err := files.ReadFile(name + ".json")
	return b, err == nil
}

// Names lists the references, sorted.
func Names() (names []string) {
	all, err := fs.Glob(files, "*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, f := range all {
		names = append(names, strings.TrimSuffix(f, ".json"))
	}
	return names
}
