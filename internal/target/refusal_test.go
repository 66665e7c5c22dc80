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
	r.NeedBytes = 64 << 20
	if got := r.Error(); !strings.Contains(got, "a file of 64 MiB (67.1 MB) does not fit") || !strings.Contains(got, "at least 5 GiB stay free: free some space") {
		t.Errorf("got %q", got)
	}
	// On a small filesystem no size fits, and saying "smaller" would be no help.
	r.TotalBytes, r.KeepBytes = 1<<30, 5<<30
	if got := r.Error(); !strings.Contains(got, "no size fits") || strings.Contains(got, "smaller") {
		t.Errorf("got %q", got)
	}
	for n, want := range map[int64]string{0: "0 bytes", 4096: "4096 bytes", 100_000_000: "0.1 GB", 1_999_999_999: "1.9 GB", 2e9: "2 GB", 1_234e9: "1234 GB"} {
		if got := gigabytes(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
