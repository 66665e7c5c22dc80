package target

import (
	"strings"
	"testing"
)

func TestRefusalNamesSizesForPeople(t *testing.T) {
	r := &Refusal{Code: RefuseSpace, Dir: "/mnt", NeedBytes: 16 << 30, KeepBytes: 27_055_317_400, FreeBytes: 30_000_000_000}
	const want = "measure /mnt: a file of 16 GiB (17.1 GB) does not fit: 30 GB are free, of which 27 GB must stay free; "
	if got := r.Error(); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for n, want := range map[int64]string{0: "0 bytes", 4096: "4096 bytes", 100_000_000: "0.1 GB", 1_999_999_999: "1.9 GB", 2e9: "2 GB", 1_234e9: "1234 GB"} {
		if got := gigabytes(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
