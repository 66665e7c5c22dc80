package fio

import (
	"fmt"
	"strings"

	fiojson "nativ/internal/fio/json"
)

// The oldest fio that is used. fio counts latency samples, and has percentiles
// of lat and slat, from 3.18 on.
const oldestMajor, oldestMinor = 3, 19

// parseVersion reads what fio --version prints, "fio-3.33" or
// "fio-3.42-12-gabcdef", and returns it without the name. Other text may stand
// around it, as of a wrapper. It refuses versions that are too old.
func parseVersion(out string) (string, error) {
	for _, word := range strings.Fields(out) {
		v := fiojson.ParseVersion(word)
		if !v.Known() {
			continue
		}
		if !v.AtLeast(oldestMajor, oldestMinor) {
			return "", fmt.Errorf("fio %s is too old; version %d.%d or newer is needed", v.Short(), oldestMajor, oldestMinor)
		}
		return v.Short(), nil
	}
	return "", fmt.Errorf("fio --version says %.80q, which is no version of fio", strings.TrimSpace(out))
}
