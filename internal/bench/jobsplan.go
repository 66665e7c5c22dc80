package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nativ/internal/job"
	"nativ/internal/record"
)

// A JobsPlan is what nativ fio sets out to do: units of work, each in a worker
// of its own, on files.
type JobsPlan struct {
	// Units in the order of the job file.
	Units []Unit
	// Files that the units work on.
	Files []FileNeed
	// Results and Groups as the record has them, by indices of Units.
	Groups  [][]int
	Results []record.JobResult
}

// A Unit is what one worker does: a section with all its clones, or one clone
// where each has files of its own.
type Unit struct {
	Phase job.Phase
	Group int
	// Files are indices of JobsPlan.Files, in the order of fio's filename list.
	Files []int
	// Options are those that the section sets.
	Options []job.Setting
}

// A FileNeed is a file that jobs need.
type FileNeed struct {
	// Given is its absolute path as the job says, "" where it says only a
	// directory.
	Given string
	Dir   string
	// Existing: it was there before.
	Existing bool
	// Size in bytes that it must have; what an existing file has.
	Size int64
}

// A NeedError is why a job cannot have the file that it names.
type NeedError struct {
	// Section is the name of the job, File the path.
	Section, File string
	// Refused is true where it would not be safe, false where the job says too
	// little.
	Refused bool
	Text    string
}

func (e *NeedError) Error() string { return fmt.Sprintf("[%s] %s: %s", e.Section, e.File, e.Text) }

// maxWorkers bounds the workers that run side by side: each is a process.
const maxWorkers = 64

// noSize is what a job without size is told.
const noSize = "how large? Give size=, as for fio: the file does not exist yet"

const existing = "it exists, and nativ writes only to files that it made itself; name a file that does not exist, or a directory with --directory: nativ makes a file there and removes it again"

// PlanJobs decides which worker does what on which file. exists tells the size
// of the file at an absolute path, and false where there is none. Seeds that the
// jobs do not give are drawn from seed. engine names that of a job.
//
// As in fio a job without filename gives each of its clones a file of its own,
// and several directories are dealt out to the clones.
func PlanJobs(f *job.File, seed uint64, engine func(*job.Job) string, exists func(path string) (int64, bool)) (*JobsPlan, error) {
	p := &planner{JobsPlan: &JobsPlan{}, exists: exists, byPath: map[string]int{}, seed: seed, engine: engine}
	units := map[int][]int{} // of each job
	i := 0
	for g, group := range f.Groups() {
		p.Groups = append(p.Groups, nil)
		for range group {
			first := len(p.Units)
			if err := p.job(f.Jobs[i], g); err != nil {
				return nil, err
			}
			for u := first; u < len(p.Units); u++ {
				p.Groups[g] = append(p.Groups[g], u)
				units[i] = append(units[i], u)
			}
			i++
		}
		if n := len(p.Groups[g]); n > maxWorkers {
			return nil, fmt.Errorf("run %d workers side by side: at most %d; give clones one filename, so that one worker does for all of them", n, maxWorkers)
		}
	}
	p.results(f, units)
	p.unique()
	return p.JobsPlan, nil
}

type planner struct {
	*JobsPlan
	exists func(string) (int64, bool)
	byPath map[string]int
	seed   uint64
	engine func(*job.Job) string
}

// job adds the units of a job.
func (p *planner) job(j job.Job, group int) error {
	clones := []job.Job{j}
	if len(j.Filename) == 0 || len(j.Directory) > 1 {
		clones = nil
		for c := range j.NumJobs {
			one := j
			one.NumJobs = 1
			one.Offset = plus(j.Offset, j.OffsetIncrement, c)
			one.OffsetIncrement = job.Size{}
			clones = append(clones, one)
		}
	}
	for c, one := range clones {
		u := Unit{Group: group, Options: j.Settings()}
		dir := "."
		if len(j.Directory) > 0 {
			dir = j.Directory[c%len(j.Directory)]
		}
		one.Directory = nil
		if len(one.Filename) == 0 {
			n, err := p.file(&one, dir, "")
			if err != nil {
				return err
			}
			u.Files = append(u.Files, n)
		}
		for _, name := range one.Filename {
			if len(j.Directory) > 0 || !filepath.IsAbs(name) {
				name = filepath.Join(dir, name) // fio does so with absolute names, too
			}
			n, err := p.file(&one, filepath.Dir(name), name)
			if err != nil {
				return err
			}
			u.Files = append(u.Files, n)
		}
		ph, err := job.ToPhase(one)
		if err != nil {
			return err
		}
		ph.Engine = p.engine(&one)
		ph.PerClone = ph.NumJobs > 1 && !one.GroupReporting
		p.seed = nextSeed(p.seed)
		switch {
		case ph.RandSeed == 0:
			ph.RandSeed = passSeed(p.seed)
		case c > 0:
			ph.RandSeed = passSeed(nextSeed(ph.RandSeed + uint64(c)))
		}
		u.Phase = ph
		p.Units = append(p.Units, u)
	}
	return nil
}

// plus is an offset of a clone, where both parts are of one kind.
func plus(base, inc job.Size, n int) job.Size {
	return job.Size{Bytes: base.Bytes + int64(n)*inc.Bytes, Percent: base.Percent + n*inc.Percent}
}

// file returns the index of the file that a job needs at path, or of a new one
// in dir where path is "".
func (p *planner) file(j *job.Job, dir, path string) (int, error) {
	fail := func(refused bool, format string, args ...any) (int, error) {
		where := path
		if where == "" {
			where = "a file in " + dir
		}
		return 0, &NeedError{Section: j.Name, File: where, Refused: refused, Text: fmt.Sprintf(format, args...)}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fail(false, "%v", err)
	}
	// Bytes of the job in each of its files, from where its last clone starts.
	need := int64(0)
	if j.Size.Bytes > 0 {
		n := int64(max(len(j.Filename), 1))
		need = (j.Size.Bytes + n - 1) / n
		need += j.Offset.Bytes + int64(j.NumJobs-1)*j.OffsetIncrement.Bytes
	}
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return fail(false, "%v", err)
		}
		if i, ok := p.byPath[path]; ok {
			f := &p.Files[i]
			switch {
			case f.Existing && j.RW.Writes():
				return fail(true, existing)
			case f.Existing && need > f.Size:
				return fail(true, "it has %d bytes and the job needs %d; nativ does not change a file that it did not make", f.Size, need)
			case !f.Existing:
				f.Size = max(f.Size, need)
			}
			return i, nil
		}
		if size, ok := p.exists(path); ok {
			switch {
			case j.RW.Writes():
				return fail(true, existing)
			case need > size && size > 0:
				return fail(true, "it has %d bytes and the job needs %d; nativ does not change a file that it did not make", size, need)
			}
			p.Files = append(p.Files, FileNeed{Given: path, Dir: dir, Existing: true, Size: size})
			p.byPath[path] = len(p.Files) - 1
			return p.byPath[path], nil
		}
	}
	if need == 0 {
		return fail(false, noSize)
	}
	p.Files = append(p.Files, FileNeed{Given: path, Dir: dir, Size: need})
	i := len(p.Files) - 1
	if path != "" {
		p.byPath[path] = i
	}
	return i, nil
}

// results turns what fio would report into indices of units. Clones that share
// a worker are always one result.
func (p *planner) results(f *job.File, units map[int][]int) {
	taken := map[int]int{} // clones of a job that are in a result, by job
	for _, r := range f.Results() {
		j := &f.Jobs[r.Clones[0]]
		res := record.JobResult{Name: j.Name, Group: r.Group, Percentiles: j.PercentileList}
		for _, c := range r.Clones {
			us := units[c]
			u := us[min(taken[c], len(us)-1)]
			taken[c]++
			if !slices.Contains(res.Phases, u) {
				res.Phases = append(res.Phases, u)
			}
		}
		// The rest of a job that shares a worker with the last result.
		if n := len(p.Results); n > 0 && slices.Contains(p.Results[n-1].Phases, res.Phases[0]) {
			last := &p.Results[n-1]
			for _, u := range res.Phases {
				if !slices.Contains(last.Phases, u) {
					last.Phases = append(last.Phases, u)
				}
			}
			continue
		}
		p.Results = append(p.Results, res)
	}
}

// unique gives each unit a name of its own, by which the record tells them
// apart.
func (p *planner) unique() {
	seen := map[string]int{}
	for i := range p.Units {
		ph := &p.Units[i].Phase
		base := ph.Name
		seen[base]++
		for n := seen[base]; n > 1; n++ {
			if name := fmt.Sprintf("%s#%d", base, n); seen[name] == 0 {
				seen[name]++
				ph.Name = name
				break
			}
		}
	}
}

// Into puts the plan into a record that holds everything else of the plan:
// places, CPUs, memory, seed.
func (p *JobsPlan) Into(rec *record.Record, place string) {
	plan := &rec.Plan
	plan.Preset, plan.Places = "fio", []string{place}
	for _, u := range p.Units {
		plan.Phases = append(plan.Phases, u.Phase)
		plan.Steps = append(plan.Steps, record.Step{
			Round: u.Group, Phase: u.Phase.Name, Place: place,
			RuntimeNS: u.Phase.RuntimeNS, MaxBytes: u.Phase.MaxBytes, Seed: u.Phase.RandSeed,
		})
	}
	jobs := 0
	for _, g := range p.Groups {
		var longest int64
		for _, u := range g {
			jobs = max(jobs, p.Units[u].Phase.NumJobs)
			longest = max(longest, p.Units[u].Phase.RuntimeNS)
		}
		plan.EstimateNS[0] += longest
		plan.EstimateNS[1] += longest
	}
	plan.GOMAXPROCS = jobs + procsBeyondJobs
	for _, f := range p.Files {
		if !f.Existing {
			plan.FileSize += f.Size
		}
	}
	plan.WantedSize = plan.FileSize
	rec.Jobs = &record.Jobs{Groups: p.Groups, Results: p.Results, Engine: engines(p.Units)}
	for i := range p.Units {
		rec.Jobs.Options = append(rec.Jobs.Options, p.Units[i].Options)
	}
}

// Writes reports whether anything of the plan writes: the jobs, or the prefill
// of a file that must be made.
func (p *JobsPlan) Writes() bool {
	return slices.ContainsFunc(p.Files, func(f FileNeed) bool { return !f.Existing })
}

// engines lists the engines of the units.
func engines(units []Unit) string {
	var names []string
	for _, u := range units {
		if !slices.Contains(names, u.Phase.Engine) {
			names = append(names, u.Phase.Engine)
		}
	}
	return strings.Join(names, ", ")
}
