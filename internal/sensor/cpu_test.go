package sensor

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

func TestParseProcStat(t *testing.T) {
	// cpu1 is offline. Guest time (417, 3) is part of user and nice.
	in := `cpu  9830 0 7089 140179 3071 0 355 417 0 0
cpu0 4464 5 2910 71588 1283 7 25 186 417 3
cpu2 1 2 3 4 5 6 7
cpu13 1 2 3 4
intr 482393 0 0
ctxt 1060245
cpu99 1 2 3 4
`
	want := map[int]record.CPUTime{
		0:  {BusyNS: (4464 + 5 + 2910 + 7 + 25 + 186) * 1e7, TotalNS: (4464 + 5 + 2910 + 7 + 25 + 186 + 71588 + 1283) * 1e7, UserNS: ptr(int64((4464 + 5) * 1e7))},
		2:  {BusyNS: (1 + 2 + 3 + 6 + 7) * 1e7, TotalNS: 28e7, UserNS: ptr(int64(3e7))},
		13: {BusyNS: 6e7, TotalNS: 10e7, UserNS: ptr(int64(3e7))},
	}
	got, err := parseProcStat(strings.NewReader(in))
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// The interrupts' line of a big machine is longer than any buffer.
	long := "cpu0 1 2 3 4\nintr " + strings.Repeat("0 ", 1<<17) + "\n"
	if got, err := parseProcStat(strings.NewReader(long)); err != nil || len(got) != 1 {
		t.Errorf("long line of interrupts: %v, %v", got, err)
	}
	for _, in := range []string{
		"", "intr 1\n", "cpu  1 2 3 4\n", "cpu0 1 2 3\n", "cpu0\n", "cpux 1 2 3 4\n", "cpu-1 1 2 3 4\n",
		"cpu0 1 2 3 x\n", "cpu0 1 2 3 -4\n", "cpu0 1 2 3 4\ncpu0 1 2 3 4\n",
		"cpu0 18446744073709551615 0 0 0\n", "cpu0 922337203685 0 0 0\n",
	} {
		if got, err := parseProcStat(strings.NewReader(in)); err == nil {
			t.Errorf("%q was taken: %v", in, got)
		}
	}
}

func FuzzParseProcStat(f *testing.F) {
	f.Add("cpu  1 2 3 4\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n")
	f.Add("cpu0 1 2 3 4\ncpu7 1 2 3 4\n")
	f.Fuzz(func(t *testing.T, in string) {
		cpus, err := parseProcStat(strings.NewReader(in))
		if err == nil && len(cpus) == 0 {
			t.Fatalf("%q: no CPU and no error", in)
		}
		for id, c := range cpus {
			if id < 0 || c.BusyNS < 0 || c.BusyNS > c.TotalNS {
				t.Fatalf("%q: cpu%d %+v", in, id, c)
			}
		}
	})
}

func TestCPU(t *testing.T) {
	testSource(t, NewCPU(makeTree(t, map[string]string{"proc/stat": "cpu0 1 2 3 4\n"})))
	testSource(t, NewCPU(makeTree(t, map[string]string{"proc/stat": "intr 1\n"})))
	testSource(t, NewCPU(makeTree(t, nil)))
	if runtime.GOOS == "linux" {
		testSource(t, NewCPU(Roots{}))
	}
}
