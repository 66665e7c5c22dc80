package pass

import (
	"math"

	"nativ/internal/job"
	"nativ/internal/target"
)

// A Bare job is the only one of a pass, for tests of the loop itself. All calls
// must come from one locked thread.
type Bare struct {
	*Job
	blocks int64
}

// NewBare sets a job up that moves so many blocks a run.
func NewBare(e IOEngine, ph job.Phase, files []*target.Claim, blocks int64) (*Bare, error) {
	ph.MaxBytes = blocks * max(ph.BlockSize, ph.WriteBlockSize)
	p, err := newPass(e, ph, files)
	if err != nil {
		return nil, err
	}
	p.deadlineNS = math.MaxInt64
	return &Bare{p.jobs[0], blocks}, p.jobs[0].setup()
}

// Run runs the loop once, as if it had begun one and a half seconds ago, so
// that intervals are published too.
func (b *Bare) Run() {
	b.p.budget.Store(b.blocks)
	b.exhausted, b.wrote, b.endSync = false, false, b.p.phase.EndFSync
	b.p.goNS = b.Clock.Now() - 3*second/2
	b.p.startNS = b.p.goNS + b.p.phase.RampTimeNS
	b.begin(b.p.goNS)
	b.driver.Loop(b.p.goNS)
	b.finish()
}

// Close frees it.
func (b *Bare) Close() { b.release() }

// Result returns the I/Os by direction, and the number of errors.
func (b *Bare) Result() (read, write, sync int64, errs int) {
	n := func(d Dir) int64 {
		if b.flows[d] == nil {
			return 0
		}
		return b.flows[d].n
	}
	return n(Read), n(Write), n(Sync), len(b.errs)
}
