package job

import (
	"path"
	"slices"
	"strings"
)

// What is done with options when fio is the engine (Options.ForFio). fio's own
// reading of a value counts then: where a Job can hold it, it does; where not, and
// for options that the own engine lacks, the option is kept word for word
// (Job.Raw) and fio is the one to judge it.

// WayAround is what is left to do about an option that fio does not get.
const WayAround = "run fio itself and read its result with nativ import"

// notPassed says why fio does not get an option of that name and value from
// nativ; "" where it does. Refused is what reaches other files than the job's
// own, starts programs, changes the machine, or takes away what the results are
// made of. All else is fio's business.
func notPassed(name, value string) string {
	for _, r := range notPassedOptions {
		for _, pattern := range r.names {
			if ok, _ := path.Match(pattern, name); ok && (r.unless == nil || !r.unless(value)) {
				return r.why
			}
		}
	}
	return ""
}

var notPassedOptions = []struct {
	names []string // patterns of path.Match
	why   string
	// unless are values with which fio gets it all the same.
	unless func(value string) bool
}{
	{
		names: []string{"exec_prerun", "exec_postrun"},
		why:   "it starts another program",
	},
	{
		names: []string{"filename_format", "unique_filename", "opendir", "nrfiles"},
		why:   "nativ makes the files and knows no others; name them with filename=a:b",
	},
	{
		// What says only how a file is made (fallocate, create_serialize,
		// overwrite) does nothing to one that is there, in fio, too.
		names:  []string{"filesize", "file_append", "fill_device", "fill_fs", "allow_file_create", "create_on_open", "create_only"},
		why:    "nativ makes the file itself, as large as size says, and writes it once",
		unless: off,
	},
	{names: []string{"unlink", "unlink_each_loop"}, why: "nativ removes its files itself", unless: off},
	{
		names: []string{"write_iolog"},
		why:   "it would write a file of fio's own; --trace FILE of nativ fio writes every I/O",
	},
	{
		names: []string{"read_iolog*", "replay_*", "merge_blktrace_*", "merge-blktrace-*"},
		why:   "a replay has files and sizes of its own",
	},
	{
		names: []string{"write_*_log", "log_*", "per_job_logs"},
		why:   "the seconds of the result are made of fio's logs, which nativ asks for itself",
	},
	{
		names: []string{"stats"}, why: "the result is made of them",
		unless: func(v string) bool { return strings.TrimSpace(v) == "1" },
	},
	{
		names: []string{"unified_rw_reporting"}, why: "the result has reads and writes apart",
		unless: func(v string) bool { return slices.Contains([]string{"none", "0"}, strings.TrimSpace(v)) },
	},
	{names: []string{"verify_dump", "verify_state_*"}, why: "it reads or writes files beside the job's own"},
	{names: []string{"trim_*", "num_range"}, why: "nativ discards nothing"},
	{names: []string{"profile"}, why: "a profile has jobs and files of its own"},
	{names: []string{"ioscheduler", "cgroup", "cgroup_*"}, why: "it changes this machine and leaves it so"},
	{names: []string{"uid", "gid"}, why: "fio could no longer write its results"},
	{
		names: []string{"wait_for", "new_group", "flow", "flow_*", "exitall", "exit_what", "exitall_on_error"},
		why:   "it ties sections to each other, and each has a fio of its own here",
	},
	{
		names:  []string{"kb_base"},
		why:    "all sizes would mean something else than nativ has read; write them as bytes",
		unless: func(v string) bool { return strings.TrimSpace(v) == "1024" },
	},
	{
		names: []string{"mem", "iomem"},
		why:   "such memory is a file, or stays behind when fio is killed; malloc, mmap and mmapshared serve",
		unless: func(v string) bool {
			return slices.Contains([]string{"malloc", "mmap", "mmapshared"}, strings.TrimSpace(v))
		},
	},
}

func off(value string) bool { return strings.TrimSpace(value) == "0" }

// fileEngines are the I/O engines of fio that read and write a file which is
// there, and do nothing else.
var fileEngines = []string{
	string(IOUring), string(LibAIO), "linuxaio", string(PSync), string(SyncCall), "vsync", "pvsync", "pvsync2",
	"posixaio", "mmap", "splice", "libpmem",
}

// FileEngines lists the I/O engines that fio as the engine may be asked for.
func FileEngines() []IOEngine {
	var list []IOEngine
	for _, e := range fileEngines {
		list = append(list, IOEngine(e))
	}
	return list
}

// forFio reads an option that both the own engine and fio have, for fio.
func (p *parser) forFio(o *option, name, value string) *bad {
	keep := func() { p.job.Raw = append(p.job.Raw, name+"="+value) }
	p.job.dropRaw(o)
	switch o.name {
	case "rw":
		// read:8 and the like say more than a mode does.
		mode, _, more := strings.Cut(value, ":")
		if b := readWord(mode, ourModes, fioModes); b != nil {
			if b.kind == Unsupported {
				b.text = "nativ discards nothing; " + WayAround
			}
			return b
		}
		if more {
			keep()
		}
		return o.read(p.job, mode)
	case "ioengine":
		if b := readWord(value, fileEngines, fioEngines); b != nil {
			if b.kind == Unsupported {
				b.text = "this I/O engine does not do what nativ measures, reads and writes of a file; it takes " + orList(fileEngines)
			}
			return b
		}
		p.job.IOEngine = IOEngine(value)
		return nil
	case "bs", "rate_iops":
		// The third value is for trims, of which there are none.
		if parts := strings.Split(value, ","); len(parts) == 3 {
			keep()
			value = strings.TrimRight(strings.Join(parts[:2], ","), ",")
			if value == "" {
				return nil
			}
		}
	}
	b := o.read(p.job, value)
	for range 2 { // the values for reads and for writes
		if b != nil && b.fio != "" {
			b = o.read(p.job, b.fio)
		}
	}
	switch {
	case b == nil || b.taken:
		return nil
	case o.name == "cpus_allowed": // of which fio takes many forms
	case b.kind != Surprise && b.kind != Unsupported || o.name == "filename":
		return b
	}
	keep()
	return nil
}

// raw keeps an option that is fio's alone, and says what is wrong with it.
func (p *parser) raw(name, value string, hasValue bool) *bad {
	if why := notPassed(name, value); why != "" {
		return &bad{kind: Unsupported, text: "nativ does not pass this option of fio's on: " + why + "; or " + WayAround}
	}
	switch {
	case hasValue && value == "":
		return invalid("the value is empty, which fio refuses")
	case !hasValue && !bareInFio(name):
		return invalid("the option needs a value")
	case hasValue:
		name += "=" + value
	}
	p.job.Raw = append(p.job.Raw, name)
	return nil
}

// undoneBy are options of fio's alone that set what an option of ours sets, too:
// the last of them counts.
var undoneBy = map[string][]string{
	"bs":           {"bsrange", "blocksize_range"},
	"cpus_allowed": {"cpumask"},
}

// rawHas reports whether Raw has an option under one of its names.
func (j *Job) rawHas(o *option) bool {
	return slices.ContainsFunc(j.Raw, func(r string) bool {
		name, _, _ := strings.Cut(r, "=")
		return optionByName(name) == o
	})
}

// dropRaw forgets what was kept of an option that is set anew.
func (j *Job) dropRaw(o *option) {
	j.Raw = slices.DeleteFunc(j.Raw, func(r string) bool {
		name, _, _ := strings.Cut(r, "=")
		return optionByName(name) == o || slices.Contains(undoneBy[o.name], name)
	})
}
