package target

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// exists reports whether dir has a file called name.
func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// readString reads a sysfs attribute, trimmed; "" where it cannot be read.
func readString(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// readWord is readString with nil for what is missing or empty.
func readWord(dir, name string) *string {
	if s := readString(dir, name); s != "" {
		return &s
	}
	return nil
}

// readBool reads an attribute that is "0" or "1"; nil where it is neither.
func readBool(dir, name string) *bool {
	switch readString(dir, name) {
	case "0":
		return new(false)
	case "1":
		return new(true)
	}
	return nil
}

// readInt reads a number that is not negative; false where it is none.
func readInt(dir, name string) (int64, bool) {
	n, err := strconv.ParseInt(readString(dir, name), 10, 64)
	return n, err == nil && n >= 0
}
