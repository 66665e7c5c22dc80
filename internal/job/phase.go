package job

import (
	"fmt"
	"slices"
)

// ToPhase returns the phase that does what the job says. Where the engine
// cannot, the error is an *Error of the kind Unsupported that names the option.
//
// A serial engine has an iodepth of 1, whatever the job says.
//
// What concerns the files (filename, directory), the engine (ioengine), the
// order of jobs (stonewall) and the report (group_reporting, percentile_list,
// lat_percentiles) is not the phase's part. A job without randseed leaves the
// seed 0, for the caller to choose.
func ToPhase(j Job) (Phase, error) {
	p := Phase{
		Name: j.Name, Mode: j.RW, BlockSize: j.ReadBS, IODepth: j.IODepth, NumJobs: j.NumJobs, Direct: j.Direct,
		Once: !j.TimeBased, RuntimeNS: j.RuntimeNS, RampTimeNS: j.RampTimeNS, ThinkTimeNS: j.ThinkTimeNS,
		RandomMap: j.RW.Random() && !j.NoRandomMap, CPUs: j.CPUsAllowed,
		FixedBufs: j.FixedBufs, RegisterFiles: j.RegisterFiles, HiPri: j.HiPri,
		KeepCache: j.KeepCache, Description: j.Description,
	}
	if j.serial() && !j.forFio {
		p.IODepth = 1
	}
	if p.Raw = slices.Clone(j.Raw); j.forFio {
		p.Engine = fioEngine // for the rules of Validate; the caller names the I/O engine
	}
	if _, ok := j.set["randseed"]; ok || j.RandRepeat {
		p.RandSeed = j.RandSeed
	}
	if j.RW.Reads() {
		p.ReadIOPS = j.ReadIOPS
	}
	// What concerns writes does nothing to a job in fio that only reads.
	if j.RW.Writes() {
		p.WriteIOPS = j.WriteIOPS
		p.FSync, p.FDataSync, p.EndFSync = int(j.FSync), int(j.FDataSync), j.EndFSync
		p.Unique, p.ZeroBuffers, p.CompressPercent = j.RefillBuffers, j.ZeroBuffers, j.BufferCompressPercentage
	}
	if j.Sync != SyncNone {
		p.Sync = j.Sync
	}
	switch {
	case j.RW.Mixed():
		p.RWMixRead = j.RWMixRead
		if j.WriteBS != j.ReadBS {
			p.WriteBlockSize = j.WriteBS
		}
	case j.RW.Writes():
		p.BlockSize = j.WriteBS
	}
	// fio without time_based ends at whichever comes first, and with it
	// looks at the time alone.
	if p.Once {
		p.IOSize = j.IOSize
	}
	j.regions(&p)

	for _, c := range []struct {
		option string
		bad    bool
		text   string
		want   string
	}{
		{"bs", p.RandomMap && p.WriteBlockSize != 0, "visit each block once with two block sizes", "norandommap=1"},
		{"hipri", p.HiPri && (p.Syncs() || p.EndFSync), "do fsync and fdatasync on a polled ring", "hipri=0"},
		{"hipri", p.HiPri && !p.Direct, "poll for I/O of the page cache", "direct=1"},
		{"directory", len(j.Directory) > 1, "deal directories out to clones", ""},
	} {
		if !c.bad || j.forFio && c.option != "directory" {
			continue
		}
		e := &Error{Pos: j.set[c.option], Kind: Unsupported, Section: j.Name, Option: c.option, Value: optionByName(c.option).write(&j), Instead: c.want}
		e.Text = fmt.Sprintf("this engine cannot %s in section [%s]; take %s", c.text, j.Name, WayOut)
		if c.want != "" {
			e.Text = fmt.Sprintf("this engine cannot %s in section [%s]; write %s, or take %s", c.text, j.Name, c.want, WayOut)
		}
		return Phase{}, e
	}
	if err := p.Validate(); err != nil {
		return Phase{}, err
	}
	if err := j.wholeBlocks(&p); err != nil && !j.forFio {
		return Phase{}, err
	}
	return p, nil
}

// wholeBlocks reports a size that does not hold whole blocks of the phase, where
// that matters.
func (j *Job) wholeBlocks(p *Phase) error {
	fail := func(kind Kind, instead, format string, args ...any) error {
		return &Error{
			Pos: j.set["size"], Kind: kind, Section: j.Name, Option: "size", Value: formatSize(j.Size.Bytes),
			Instead: instead, Text: fmt.Sprintf(format, args...) + fmt.Sprintf(" (section [%s])", j.Name),
		}
	}
	r, w := p.BlockSizes()
	size := j.Size.Bytes / int64(max(len(j.Filename), 1)) // in each file
	switch {
	case j.Size.Bytes == 0:
	case size < max(r, w):
		return fail(Invalid, "", "a file's part of it is less than one block of bs=%s; fio refuses it too", formatSize(max(r, w)))
	case !p.Once || p.IOSize != (Size{}) || r != w || size%r == 0 || len(j.Filename) > 1:
	case p.RandomMap: // fio leaves out what is left below a block, too
	default:
		whole := size / r * r
		return fail(Surprise, "size="+formatSize(whole+r), "it holds %d whole blocks of bs=%s, and fio does %d, of which the last reaches beyond size (%s does it); write size=%s or size=%s",
			size/r, formatSize(r), size/r+1, WayOut, formatSize(whole), formatSize(whole+r))
	}
	return nil
}

// serial reports whether the I/O engine that the job names keeps one I/O in
// flight.
func (j *Job) serial() bool { return j.IOEngine == PSync || j.IOEngine == SyncCall }

// regions sets where the phase's jobs work.
func (j *Job) regions(p *Phase) {
	// A region of its own for each job, together all of the file, has a name.
	share := j.Size.Percent
	if j.NumJobs > 1 && !j.RW.Random() && share*j.NumJobs == 100 && j.OffsetIncrement.Percent == share &&
		j.Offset == (Size{}) {
		p.Split = true
		return
	}
	p.Offset = j.Offset
	if j.NumJobs > 1 {
		p.OffsetIncrement = j.OffsetIncrement
	}
	if share != 100 {
		p.Size = j.Size
	}
}
