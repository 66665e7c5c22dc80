package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFootnotesHaveAnchors: whoever reads a footnote finds what it is about.
func TestFootnotesHaveAnchors(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	note := regexp.MustCompile(`(?m)^\[(\d+)\] `)
	anchor := regexp.MustCompile(`\[(\d[\d,-]*)\]`)
	found := 0
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first := note.FindIndex(page)
		if first == nil {
			continue
		}
		named := map[int]bool{}
		for _, m := range anchor.FindAllStringSubmatch(string(page[:first[0]]), -1) {
			for part := range strings.SplitSeq(m[1], ",") {
				low, high, is := strings.Cut(part, "-")
				if !is {
					high = low
				}
				from, err1 := strconv.Atoi(low)
				to, err2 := strconv.Atoi(high)
				if err1 != nil || err2 != nil {
					continue // a list of CPUs and not of footnotes
				}
				for i := from; i <= to; i++ {
					named[i] = true
				}
			}
		}
		for _, m := range note.FindAllStringSubmatch(string(page), -1) {
			found++
			if n, _ := strconv.Atoi(m[1]); !named[n] {
				t.Errorf("%s: nothing refers to footnote [%d]", file, n)
			}
		}
	}
	if found == 0 {
		t.Error("no golden has footnotes")
	}
}
