package fiojson

import (
	"fmt"
	"strconv"
	"strings"
)

// A Version is a version of fio. The zero value is an unknown one.
type Version struct {
	Major, Minor int
	// Text is as fio wrote it, for example "fio-3.33" or "fio-3.36-12-g1a2b".
	Text string
}

// ParseVersion reads what fio writes as "fio version". Of a text without
// numbers it keeps the text.
func ParseVersion(s string) Version {
	v := Version{Text: s}
	num, ok := strings.CutPrefix(s, "fio-")
	if !ok {
		return v
	}
	num, _, _ = strings.Cut(num, "-")
	parts := strings.Split(num, ".")
	if len(parts) < 2 {
		return v
	}
	major, err1 := strconv.ParseUint(parts[0], 10, 16)
	minor, err2 := strconv.ParseUint(parts[1], 10, 16)
	if err1 == nil && err2 == nil {
		v.Major, v.Minor = int(major), int(minor)
	}
	return v
}

// Known reports whether the version could be read.
func (v Version) Known() bool { return v.Major > 0 }

// AtLeast reports whether v is known and not older than major.minor.
func (v Version) AtLeast(major, minor int) bool {
	return v.Known() && (v.Major > major || v.Major == major && v.Minor >= minor)
}

// Before reports whether v is known and older than major.minor.
func (v Version) Before(major, minor int) bool { return v.Known() && !v.AtLeast(major, minor) }

// Short is the version without the name: "3.33".
func (v Version) Short() string {
	if s, ok := strings.CutPrefix(v.Text, "fio-"); ok {
		return s
	}
	if v.Text == "" && v.Known() {
		return fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	return v.Text
}
