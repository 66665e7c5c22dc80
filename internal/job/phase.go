package job

import "fmt"

// ToPhase returns the phase that does what the job says. Where the engine
// cannot yet, the error is an *Error of the kind Unsupported that names the
// option.
//
// What concerns the file (filename, directory), the order of jobs (stonewall)
// and the report (group_reporting, percentile_list, lat_percentiles) is not the
// phase's part. A job without randseed leaves the seed 0, for the caller to
// choose.
func ToPhase(j Job) (Phase, error) {
	p := Phase{
		Name: j.Name, Mode: j.RW, BlockSize: j.ReadBS, IODepth: j.IODepth, NumJobs: j.NumJobs, Direct: j.Direct,
		FDataSync: int(j.FDataSync), Unique: j.RefillBuffers, Once: !j.TimeBased, RuntimeNS: j.RuntimeNS,
	}
	if j.RW.Writes() {
		p.BlockSize = j.WriteBS
	}
	if _, ok := j.set["randseed"]; ok {
		p.RandSeed = j.RandSeed
	}
	// fdatasync of a job that only reads does nothing in fio.
	if !j.RW.Writes() {
		p.FDataSync = 0
	}
	// Every job a region of its own, together all of the file: that is what
	// the phase can say of size and offsets.
	share := j.Size.Percent
	p.Split = j.NumJobs > 1 && !j.RW.Random() && share*j.NumJobs == 100 && j.OffsetIncrement.Percent == share
	whole := j.Size == Size{} || share == 100

	for _, c := range []struct {
		option string
		bad    bool
	}{
		{"rw", j.RW.Mixed()},
		{"norandommap", j.RW.Random() && !j.NoRandomMap},
		{"size", !p.Split && !whole},
		{"offset_increment", !p.Split && j.NumJobs > 1 && j.OffsetIncrement != Size{}},
		{"io_size", j.IOSize != Size{}},
		{"offset", j.Offset != Size{}},
		{"ramp_time", j.RampTimeNS != 0},
		{"rate_iops", j.ReadIOPS != 0 || j.WriteIOPS != 0},
		{"thinktime", j.ThinkTimeNS != 0},
		{"fsync", j.FSync != 0 && j.RW.Writes()},
		{"end_fsync", j.EndFSync && j.RW.Writes()},
		{"sync", j.Sync != SyncNone},
		{"zero_buffers", j.ZeroBuffers && j.RW.Writes()},
		{"buffer_compress_percentage", j.BufferCompressPercentage != 0 && j.RW.Writes()},
		{"cpus_allowed", len(j.CPUsAllowed) > 0},
		{"fixedbufs", j.FixedBufs},
		{"registerfiles", j.RegisterFiles},
		{"hipri", j.HiPri},
		{"ioengine", j.IOEngine != "" && j.IOEngine != IOUring},
		{"filename", len(j.Filename) > 1},
		{"directory", len(j.Directory) > 1},
	} {
		if !c.bad {
			continue
		}
		e := &Error{Pos: j.set[c.option], Kind: Unsupported, Section: j.Name, Option: c.option}
		if o := optionByName(c.option); o.write != nil {
			e.Value = o.write(&j)
		}
		e.Text = fmt.Sprintf("this engine cannot do that yet in section [%s]; %s can", j.Name, WayOut)
		if c.option == "norandommap" {
			e.Value = ""
			e.Text = fmt.Sprintf("this engine draws random offsets independently and cannot yet visit each block once in section [%s]; write norandommap=1, or take %s",
				j.Name, WayOut)
			e.Instead = "norandommap=1"
		}
		return Phase{}, e
	}
	if err := p.Validate(); err != nil {
		return Phase{}, err
	}
	return p, nil
}
