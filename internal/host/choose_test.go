package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nativ/internal/record"
)

// cpus makes CPUs from a word of letters, one each in order: p and e are
// performance and efficiency cores, x cores that are all alike, and the
// capital letter is the second thread of a core.
func cpus(word string) []record.CPU {
	var all []record.CPU
	for i, c := range word {
		cpu := record.CPU{ID: i, Sibling: c == 'P' || c == 'E' || c == 'X'}
		switch c {
		case 'p', 'P':
			cpu.Type = performance
		case 'e', 'E':
			cpu.Type = efficiency
		}
		all = append(all, cpu)
	}
	return all
}

func ids(set record.CPUSet) string {
	var s []string
	for _, c := range set.CPUs {
		s = append(s, fmt.Sprint(c.ID))
	}
	return strings.Join(s, " ")
}

func TestChooseCPUs(t *testing.T) {
	const (
		ultra225  = "ppeeeepppp"                       // Core Ultra 5 225: 6 P + 4 E, no SMT, numbered in clusters
		i12900K   = "pPpPpPpPpPpPpPpPeeeeeeee"         // threads of a core next to each other
		ryzen7950 = "xxxxxxxxxxxxxxxxXXXXXXXXXXXXXXXX" // two CCDs, second threads in the upper half
		bigLittle = "eeeepppp"                         // ARM, little ones first
	)
	for _, tt := range []struct {
		name, cpus string
		n          int
		want       string
		halved     bool
		all        bool
	}{
		{"Core Ultra 5 225", ultra225, 0, "0 1 6 7", false, false},
		{"Core Ultra 5 225, 6", ultra225, 6, "0 1 6 7 8 9", false, false},
		{"Core Ultra 5 225, 8", ultra225, 8, "0 1 2 3 6 7 8 9", false, false},
		{"Core Ultra 5 225, all", ultra225, 10, "0 1 2 3 4 5 6 7 8 9", false, true},
		{"12900K", i12900K, 0, "0 2 4 6", false, false},
		{"12900K, 8", i12900K, 8, "0 2 4 6 8 10 12 14", false, false},
		{"12900K, 10", i12900K, 10, "0 2 4 6 8 10 12 14 16 17", false, false},
		{"12900K, 17", i12900K, 17, "0 1 2 4 6 8 10 12 14 16 17 18 19 20 21 22 23", false, false},
		{"Ryzen", ryzen7950, 0, "0 1 2 3", false, false},
		{"Ryzen, 17", ryzen7950, 17, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", false, false},
		{"VM of 2", "xx", 0, "0", true, false},
		{"VM of 2, asked", "xx", 2, "0 1", false, true},
		{"one core of two threads", "xX", 0, "0", true, false},
		{"one", "x", 0, "0", false, true},
		{"one, asked", "x", 1, "0", false, true},
		{"three", "xxx", 0, "0", true, false},
		{"four", "xxxx", 0, "0 1", true, false},
		{"seven", "xxxxxxx", 0, "0 1 2", true, false},
		{"eight", "xxxxxxxx", 0, "0 1 2 3", false, false},
		{"four cores of two threads", "xXxXxXxX", 0, "0 2 4 6", false, false},
		{"big.LITTLE", bigLittle, 0, "4 5 6 7", false, false},
		{"big.LITTLE, 5", bigLittle, 5, "0 4 5 6 7", false, false},
	} {
		got, err := ChooseCPUs(cpus(tt.cpus), tt.n)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if ids(got) != tt.want || got.Halved != tt.halved || got.All != tt.all || got.Default != (tt.n == 0) || got.Online != len(tt.cpus) {
			t.Errorf("%s: got %s, %+v; want %s", tt.name, ids(got), got, tt.want)
		}
	}
	for _, n := range []int{3, 100, -1} {
		if _, err := ChooseCPUs(cpus("xx"), n); err == nil || !strings.Contains(err.Error(), "--cpus 1 to 2") {
			t.Errorf("%d of 2: %v", n, err)
		}
	}
	if _, err := ChooseCPUs(nil, 0); err == nil {
		t.Error("chose from none")
	}
}

// Nothing that was left out would have come before anything that was chosen.
func TestChooseCPUsFollowsTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := cpus(rapid.StringMatching(`[pPeExX]{1,64}`).Draw(t, "cpus"))
		n := rapid.IntRange(0, len(all)).Draw(t, "n")
		before := slices.Clone(all)
		set, err := ChooseCPUs(all, n)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(before, all) {
			t.Fatal("it changed the list that it was given")
		}
		if len(set.CPUs) < 1 || n > 0 && len(set.CPUs) != n {
			t.Fatalf("chose %d", len(set.CPUs))
		}
		for _, out := range all {
			if slices.Contains(set.CPUs, out) {
				continue
			}
			for _, in := range set.CPUs {
				if rank(out) < rank(in) || rank(out) == rank(in) && out.ID < in.ID {
					t.Fatalf("chose %+v and left out %+v", in, out)
				}
			}
		}
	})
}
