// Package fiotest compares JSON of fio, value by value, for tests.
package fiotest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
)

// Jobs are the entries of fio's jobs, whatever text stands around the JSON.
func Jobs(t testing.TB, b []byte) []map[string]any {
	t.Helper()
	var root struct{ Jobs []map[string]any }
	if err := json.NewDecoder(bytes.NewReader(b[max(bytes.Index(b, []byte("{\n")), 0):])).Decode(&root); err != nil {
		t.Fatal(err)
	}
	return root.Jobs
}

// Differences lists the values in which one of fio's objects, as JSON has it, is
// another in got. What got has beside is none.
func Differences(path string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: an object became %v", path, got)}
		}
		var all []string
		for _, k := range slices.Sorted(maps.Keys(w)) {
			v, ok := g[k]
			if !ok {
				all = append(all, path+"."+k+": gone")
				continue
			}
			all = append(all, Differences(path+"."+k, w[k], v)...)
		}
		return all
	case float64:
		// fio writes six decimals, some of them of a 32-bit number.
		if g, ok := got.(float64); !ok || math.Abs(g-w) > math.Max(1e-6*math.Abs(w), 2e-6) {
			return []string{fmt.Sprintf("%s: %v became %v", path, want, got)}
		}
	default:
		if fmt.Sprint(want) != fmt.Sprint(got) {
			return []string{fmt.Sprintf("%s: %v became %v", path, want, got)}
		}
	}
	return nil
}
