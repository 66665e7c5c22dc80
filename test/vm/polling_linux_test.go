package vm

import (
	"slices"
	"strconv"
	"testing"

	"nativ/internal/record"
)

// interrupts returns how many the NVMe I/O queues have raised.
func (m *machine) interrupts() int64 {
	m.t.Helper()
	n, err := strconv.ParseInt(m.sh(`awk '/nvme0q[1-9]/ { n += $2 } END { print n + 0 }' /proc/interrupts`), 10, 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// hipri=1 polls where the driver has queues for it: next to no interrupts,
// while the same reads without it raise many.
func TestPolling(t *testing.T) {
	m := boot(t, nvmeDrive())
	m.loadNVMe("poll_queues=1", "nvme0n1")
	m.ext4("/dev/nvme0n1", "/mnt/d")
	measure := func(more ...string) (raised int64, rec *record.Record) {
		t.Helper()
		m.sh("sync")
		before := m.interrupts()
		rec = m.run(fio("/mnt/d", append(more, "--ioengine=io_uring")...)...).want(t, 0).record(t)
		return m.interrupts() - before, rec
	}
	raised, rec := measure("--hipri=1")
	pass := rec.Rounds[0].Passes[0]
	if reads := pass.Outcome.Read.IOs; reads < 100 || raised*4 > reads { // what is left is the prefill
		t.Errorf("%d interrupts for %d polled reads", raised, reads)
	}
	if e := pass.Engine; e == nil || !slices.Contains(e.Setup, "IORING_SETUP_IOPOLL") {
		t.Errorf("the record says that the engine was set up as %+v, without IORING_SETUP_IOPOLL", e)
	}
	raised, rec = measure()
	if reads := rec.Rounds[0].Passes[0].Outcome.Read.IOs; raised*8 < reads { // one may stand for all 4 in flight
		t.Errorf("only %d interrupts for %d reads without hipri: those counted are not the drive's", raised, reads)
	}
	m.nothingLeft("/mnt/d")
}

// Where there is no queue to poll, hipri=1 is refused and not quietly done
// with interrupts.
func TestPollingRefused(t *testing.T) {
	m := boot(t, nvmeDrive())
	m.loadNVMe("", "nvme0n1")
	m.ext4("/dev/nvme0n1", "/mnt/d")
	r := m.run(fio("/mnt/d", "--ioengine=io_uring", "--hipri=1")...).want(t, 4)
	r.says(t, "hipri", "cannot be polled", "nvme.poll_queues")
	if p := r.record(t).Rounds[0].Passes[0]; p.Failed == nil || p.Failed.Code != record.FailEngine || p.Outcome != nil {
		t.Errorf("the pass has %+v, %+v", p.Failed, p.Outcome)
	}
	m.nothingLeft("/mnt/d")
}
