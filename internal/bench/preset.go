package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nativ/internal/job"
	"nativ/internal/record"
)

// PresetByName returns the preset called name: quick (test is the same), standard,
// thorough, or one made of an embedded job file. An error lists the names there
// are.
func PresetByName(name string, engine func(*job.Job) string) (job.Preset, error) {
	ours := name
	if name == "test" {
		ours = "quick"
	}
	if p, err := job.PresetByName(ours); err == nil {
		for i := range p.Phases {
			p.Phases[i].Engine = engine(&job.Job{IOEngine: job.IOUring}) // as presets/test.fio says
		}
		return p, nil
	}
	if !slices.Contains(job.PresetNames(), name) {
		names := slices.DeleteFunc(job.PresetNames(), func(n string) bool { return n == "test" })
		return job.Preset{}, fmt.Errorf("there is no preset %q; the presets are: quick, standard, thorough, %s", name, strings.Join(names, ", "))
	}
	f, err := job.ParsePreset(name)
	if err != nil {
		return job.Preset{}, err
	}
	p, err := PresetOf(name, f, engine)
	if err == nil {
		shape(&p)
	}
	return p, err
}

// shape gives an embedded preset what its job file cannot say.
func shape(p *job.Preset) {
	switch p.Name {
	case "article":
		p.Order, p.Passes = job.OrderArticle, 1
		p.Places = []string{record.PlaceHost, record.PlaceLXC}
		p.FileSize, p.WriteQuota = 50_000_000_000>>20<<20, 0 // the container had 50 GB
		// Without cooling down a drive that throttled starts the next phase
		// throttled, and there is no cold table to hold against the hot one.
		p.CoolDown, p.Idle = 10*time.Minute, idleTime
	case "heat":
		p.Order, p.Passes = job.OrderHeat, 1
		p.Places = []string{record.PlaceHost}
		// Fast drives without a heatsink throttle within a minute or two, in which
		// a link of PCIe 5.0 x4 carries this much.
		p.WriteQuota = 1 << 40
		p.CoolDown, p.Idle, p.Ceiling = 10*time.Minute, idleTime, true
	case "fill":
		p.Order, p.Passes = job.OrderFill, 1
		p.Places = []string{record.PlaceHost}
		p.FileSize = 0
		p.CoolDown, p.Idle = -1, idleTime
	}
}

// idleTime is how long a drive is left alone before its temperature at rest is
// read: reading it once a second warms some drives (lm-sensors issue 511).
const idleTime = 60 * time.Second

// PresetOf makes a preset of a job file: each section is a phase. Its runtime is
// that of the phase in each place, over all passes there, and may be missing
// where the section ends by itself. engine names that of a job, "" for the run's.
//
// A file whose sections run side by side, or name files, cannot be one: the
// error says what to change.
func PresetOf(name string, f *job.File, engine func(*job.Job) string) (job.Preset, error) {
	quick := job.Quick()
	p := job.Preset{Name: name, Passes: quick.Passes, WriteQuota: quick.WriteQuota}
	fail := func(j *job.Job, format string, args ...any) (job.Preset, error) {
		return job.Preset{}, fmt.Errorf("[%s] %s", j.Name, fmt.Sprintf(format, args...))
	}
	if len(f.Jobs) == 0 {
		return job.Preset{}, fmt.Errorf("job file %s has no jobs", name)
	}
	for _, g := range f.Groups() {
		j := &g[0]
		if len(g) > 1 {
			return fail(&g[1], "runs beside [%s], and nativ bench measures one phase at a time: give it stonewall, or run the file with nativ fio", j.Name)
		}
		if pos, ok := j.Set("filename"); ok {
			return fail(j, "%s: filename: nativ bench measures on a test file of its own: leave it out and name the directory with --dir", pos)
		}
		if pos, ok := j.Set("directory"); ok {
			return fail(j, "%s: directory: nativ bench measures on a test file of its own: leave it out and name the directory with --dir", pos)
		}
		ph, err := job.ToPhase(*j)
		if err != nil {
			return job.Preset{}, err
		}
		if slices.ContainsFunc(p.Phases, func(o job.Phase) bool { return o.Name == ph.Name }) {
			return fail(j, "is there twice; phases of nativ bench need names of their own")
		}
		ph.Engine = engine(j)
		if j.Size.Bytes > 0 {
			p.FileSize = max(p.FileSize, j.Size.Bytes+j.Offset.Bytes+int64(j.NumJobs-1)*j.OffsetIncrement.Bytes)
		}
		p.Phases = append(p.Phases, ph)
	}
	const block = 1 << 20 // what the prefill writes at a time
	if p.FileSize = (p.FileSize + block - 1) / block * block; p.FileSize == 0 {
		p.FileSize = quick.FileSize
	}
	return p, nil
}

// ReadOnly takes the phases that write out of a preset and returns their names.
// An error means that nothing is left.
func ReadOnly(p *job.Preset) (leftOut []string, err error) {
	var reads []job.Phase
	for _, ph := range p.Phases {
		if ph.Mode.Writes() {
			leftOut = append(leftOut, ph.Name)
		} else {
			reads = append(reads, ph)
		}
	}
	if len(reads) == 0 {
		return nil, fmt.Errorf("all of preset %s writes, so that nothing is left to measure without writing", p.Name)
	}
	p.Phases = reads
	return leftOut, nil
}

// perPass is the time of one pass of a phase; 0 where it ends by itself alone.
func perPass(w *Wish, ph *job.Phase) time.Duration {
	runtime := time.Duration(ph.RuntimeNS)
	if w.Preset.Runtime > 0 {
		runtime = w.Preset.Runtime
	}
	if w.Runtime > 0 {
		runtime = w.Runtime
		if w.Preset.Order == job.OrderRounds {
			return runtime
		}
	}
	return runtime / time.Duration(w.Preset.Passes)
}
