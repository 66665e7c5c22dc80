package vm

import (
	"strings"
	"testing"
	"time"

	"nativ/internal/record"
)

// A drive that is pulled in mid-run: what was measured stays, the failure is
// named, nothing hangs, and nothing is called removed that may still be on the
// drive.
func TestDrivePulled(t *testing.T) {
	m := boot(t, nvmeDrive())
	m.loadNVMe("", "nvme0n1")
	m.ext4("/dev/nvme0n1", "/mnt/d")
	p := m.start(m.bench("/mnt/d", "--places", "host,lxc", "--runtime", "12s")...)
	p.untilSaid("1/4") // the first pass, on the host, is over
	time.Sleep(2 * time.Second)
	m.pull("nvme0")
	r := p.wait().want(t, 7)
	r.says(t, "failed: I/O error: read: EIO", "was removed from this machine", "nativ clean")

	rec := r.record(t)
	if rec.Complete || len(rec.Incomplete) == 0 {
		t.Errorf("the record is complete: %+v", rec.Incomplete)
	}
	var passes []record.Pass
	for _, round := range rec.Rounds {
		passes = append(passes, round.Passes...)
	}
	if len(passes) < 2 {
		t.Fatalf("%d passes in the record, want at least the two that began", len(passes))
	}
	if p := passes[0]; !p.OK() || p.Place != record.PlaceHost || p.Outcome.Read.IOs == 0 {
		t.Errorf("the pass before the drive was pulled: %s, %+v", p.Place, p.Failed)
	}
	p1 := passes[1]
	if p1.Failed == nil || p1.Failed.Code != record.FailIO || p1.Place != record.PlaceLXC {
		t.Errorf("the pass in which the drive was pulled: %s, %+v", p1.Place, p1.Failed)
	}
	if p1.Outcome == nil || p1.Outcome.Read == nil || p1.Outcome.Read.IOs == 0 || len(p1.Intervals) == 0 {
		t.Errorf("nothing is kept of what the pass measured before: %+v", p1.Outcome)
	}
	for _, p := range passes[2:] {
		if p.OK() {
			t.Errorf("pass %d succeeded on a drive that is gone", p.Index)
		}
	}
	if rec.Cleaned == nil || len(rec.Cleaned.Left) != 1 || !strings.Contains(rec.Cleaned.Left[0], "nativ-") {
		t.Errorf("left: %+v, want the test file alone", rec.Cleaned)
	}
	m.run("nativ", "clean").want(t, 7).says(t, "was removed from this machine")

	// The drive comes back.
	m.sh("umount -l /mnt/d")
	m.qmp("device_add", map[string]any{"driver": "nvme", "id": "nvme0", "serial": "TEST0001", "bus": "slot0", "drive": "disk0"})
	m.await("-n \"$(ls /dev/nvme*n1 2>/dev/null)\"")
	m.sh("mount /dev/nvme*n1 /mnt/d")
	m.run("nativ", "clean").want(t, 0).says(t, "gone: ")
	m.nothingLeft("/mnt/d")
}
