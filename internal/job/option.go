package job

import (
	"slices"
	"strconv"
	"strings"
)

// An option is one that the own engine has: how it is spelt, read and written.
type option struct {
	name    string
	aliases []string
	// sets is the option that an option without write sets in fact.
	sets string
	// bare options may stand without a value, which means 1.
	bare bool
	// uring options exist for ioengine=io_uring only.
	uring bool
	// read takes the value into the job.
	read func(j *Job, v string) *bad
	// write returns the value as fio and read take it.
	write func(j *Job) string
}

var (
	ourModes   = []string{"read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"}
	fioModes   = []string{"trim", "randtrim", "trimwrite", "randtrimwrite"}
	ourEngines = []string{string(IOUring), string(LibAIO), string(PSync), string(SyncCall)}
	// What else fio calls an I/O engine; none is refused here for being absent
	// from one build of fio.
	fioEngines = []string{
		"cpuio", "mmap", "vsync", "pvsync", "pvsync2", "null", "net", "netsplice", "ftruncate", "filecreate",
		"filestat", "filedelete", "exec", "posixaio", "falloc", "e4defrag", "splice", "gfapi", "gfapi_async",
		"mtd", "sg", "io_uring_cmd", "nbd", "rdma", "rados", "rbd", "pmemblk", "dev-dax", "libpmem", "linuxaio",
		"http", "libblkio", "libcufile", "libhdfs", "libiscsi", "libzbc", "solarisaio", "windowsaio", "xnvme",
		"dfs", "nfs", "external", "guasi", "binject", "syslet-rw",
	}
)

// options are all that the own engine has, in the order in which Print writes
// them.
var options = []*option{
	{
		// Only where the section's own name does not say it already: what is
		// printed has the name in its brackets.
		name: "name",
		read: func(j *Job, v string) *bad {
			if j.Name = strings.TrimSpace(v); j.Name == "" {
				return invalid("no name")
			}
			return nil
		},
	},
	{
		name:  "description",
		read:  func(j *Job, v string) *bad { j.Description = v; return nil },
		write: func(j *Job) string { return j.Description },
	},
	{
		name: "ioengine",
		read: func(j *Job, v string) *bad {
			b := readWord(v, ourEngines, fioEngines)
			if b == nil {
				j.IOEngine = IOEngine(strings.TrimSpace(v))
			}
			return b
		},
		write: func(j *Job) string { return string(j.IOEngine) },
	},
	{
		name: "filename",
		read: func(j *Job, v string) (b *bad) {
			if j.Filename, b = readNames(v); b == nil && slices.Contains(j.Filename, "-") {
				b = &bad{kind: Unsupported, text: "- is standard input or output, which this engine does not measure"}
			}
			return b
		},
		write: func(j *Job) string { return writeNames(j.Filename) },
	},
	{
		name:  "directory",
		read:  func(j *Job, v string) (b *bad) { j.Directory, b = readNames(v); return b },
		write: func(j *Job) string { return writeNames(j.Directory) },
	},
	{
		name: "rw", aliases: []string{"readwrite"},
		read: func(j *Job, v string) *bad {
			b := readWord(v, ourModes, fioModes)
			if b == nil {
				if j.RW = Mode(strings.TrimSpace(v)); j.RW == "readwrite" {
					j.RW = ReadWrite
				}
			}
			return b
		},
		write: func(j *Job) string { return string(j.RW) },
	},
	intOption("rwmixread", 0, 100, 100, func(j *Job) *int { return &j.RWMixRead }),
	{
		// Another option in fio, but one that sets the same thing.
		name: "rwmixwrite", sets: "rwmixread",
		read: func(j *Job, v string) *bad {
			n, b := readInt(v, 0, 100)
			j.RWMixRead = 100 - int(n)
			return b
		},
	},
	{
		name: "bs", aliases: []string{"blocksize"},
		read: func(j *Job, v string) *bad {
			return readPair(v, &j.ReadBS, &j.WriteBS, func(v string) (int64, *bad) {
				n, _, b := readNumber(v, false, byteCount)
				if b == nil {
					b = inRange(n, 1, 1<<32-1)
				}
				return n, b
			})
		},
		write: func(j *Job) string { return writePair(j.ReadBS, j.WriteBS, formatSize) },
	},
	intOption("iodepth", 1, 1<<31-1, MaxIODepth, func(j *Job) *int { return &j.IODepth }),
	intOption("numjobs", 1, 1<<31-1, MaxJobs, func(j *Job) *int { return &j.NumJobs }),
	flagOption("thread", func(j *Job) *bool { return &j.Thread }),
	sizeOption("size", nil, func(j *Job) *Size { return &j.Size }),
	sizeOption("io_size", []string{"io_limit"}, func(j *Job) *Size { return &j.IOSize }),
	sizeOption("offset", []string{"fileoffset"}, func(j *Job) *Size { return &j.Offset }),
	sizeOption("offset_increment", nil, func(j *Job) *Size { return &j.OffsetIncrement }),
	boolOption("direct", func(j *Job) *bool { return &j.Direct }),
	{
		// Another option in fio, but one that sets the same thing.
		name: "buffered", sets: "direct",
		read: func(j *Job, v string) *bad {
			on, b := readBool(v)
			j.Direct = !on
			return b
		},
	},
	{
		name: "invalidate",
		read: func(j *Job, v string) *bad {
			on, b := readBool(v)
			j.KeepCache = !on
			return b
		},
		write: func(j *Job) string {
			if j.KeepCache {
				return "0"
			}
			return "1"
		},
	},
	timeOption("runtime", []string{"timeout"}, 1e6, func(j *Job) *int64 { return &j.RuntimeNS }),
	flagOption("time_based", func(j *Job) *bool { return &j.TimeBased }),
	timeOption("ramp_time", nil, 1e6, func(j *Job) *int64 { return &j.RampTimeNS }),
	{
		name: "rate_iops",
		read: func(j *Job, v string) *bad {
			return readPair(v, &j.ReadIOPS, &j.WriteIOPS, func(v string) (int64, *bad) { return readInt(v, 0, 1<<32-1) })
		},
		write: func(j *Job) string {
			return writePair(j.ReadIOPS, j.WriteIOPS, func(n int64) string { return strconv.FormatInt(n, 10) })
		},
	},
	timeOption("thinktime", nil, 1, func(j *Job) *int64 { return &j.ThinkTimeNS }),
	countOption("fsync", func(j *Job) *int64 { return &j.FSync }),
	countOption("fdatasync", func(j *Job) *int64 { return &j.FDataSync }),
	boolOption("end_fsync", func(j *Job) *bool { return &j.EndFSync }),
	{
		name: "sync",
		read: func(j *Job, v string) *bad {
			b := readWord(v, []string{"none", "0", "sync", "1", "dsync"}, nil)
			if b == nil {
				switch s := Sync(strings.TrimSpace(v)); s {
				case "0":
					j.Sync = SyncNone
				case "1":
					j.Sync = SyncFile
				default:
					j.Sync = s
				}
			}
			return b
		},
		write: func(j *Job) string { return string(j.Sync) },
	},
	flagOption("group_reporting", func(j *Job) *bool { return &j.GroupReporting }),
	flagOption("stonewall", func(j *Job) *bool { return &j.Stonewall }, "wait_for_previous"),
	{
		name: "randseed",
		read: func(j *Job, v string) *bad {
			n, b := readInt(v, 0, 1<<63-1)
			j.RandSeed = uint64(n)
			return b
		},
		write: func(j *Job) string { return strconv.FormatUint(j.RandSeed, 10) },
	},
	boolOption("randrepeat", func(j *Job) *bool { return &j.RandRepeat }),
	flagOption("norandommap", func(j *Job) *bool { return &j.NoRandomMap }),
	flagOption("refill_buffers", func(j *Job) *bool { return &j.RefillBuffers }),
	flagOption("zero_buffers", func(j *Job) *bool { return &j.ZeroBuffers }),
	intOption("buffer_compress_percentage", 0, 100, 100, func(j *Job) *int { return &j.BufferCompressPercentage }),
	{
		name:  "cpus_allowed",
		read:  func(j *Job, v string) (b *bad) { j.CPUsAllowed, b = readCPUs(v); return b },
		write: func(j *Job) string { return FormatCPUs(j.CPUsAllowed) },
	},
	uringOption("fixedbufs", func(j *Job) *bool { return &j.FixedBufs }),
	uringOption("registerfiles", func(j *Job) *bool { return &j.RegisterFiles }),
	uringOption("hipri", func(j *Job) *bool { return &j.HiPri }),
	{
		name:  "percentile_list",
		read:  func(j *Job, v string) (b *bad) { j.PercentileList, b = readPercentiles(v); return b },
		write: func(j *Job) string { return writePercentiles(j.PercentileList) },
	},
	boolOption("lat_percentiles", func(j *Job) *bool { return &j.LatPercentiles }),
	{
		// On in fio, and always on here where there is such a part of lat.
		name: "clat_percentiles",
		read: func(_ *Job, v string) *bad {
			on, b := readBool(v)
			if b == nil && !on {
				b = &bad{kind: Unsupported, text: "this engine always reports clat where it knows that; leave the option out"}
			}
			return b
		},
		write: func(*Job) string { return "1" },
	},
}

var optionsByName = func() map[string]*option {
	m := map[string]*option{}
	for _, o := range options {
		m[o.name] = o
		for _, a := range o.aliases {
			m[a] = o
		}
	}
	return m
}()

// optionByName returns the own engine's option of that name or alias, or nil.
func optionByName(name string) *option { return optionsByName[name] }

// key is the name under which a job remembers that the option was set.
func (o *option) key() string {
	if o.sets != "" {
		return o.sets
	}
	return o.name
}

// intOption is an integer between lo and hi for fio, and at most limit here.
func intOption(name string, lo, hi, limit int64, field func(*Job) *int) *option {
	return &option{
		name: name,
		read: func(j *Job, v string) *bad {
			n, b := readInt(v, lo, hi)
			if b == nil {
				b = atMost(n, limit)
			}
			*field(j) = int(n)
			return b
		},
		write: func(j *Job) string { return strconv.Itoa(*field(j)) },
	}
}

func countOption(name string, field func(*Job) *int64) *option {
	return &option{
		name:  name,
		read:  func(j *Job, v string) (b *bad) { *field(j), b = readInt(v, 0, 1<<31-1); return b },
		write: func(j *Job) string { return strconv.FormatInt(*field(j), 10) },
	}
}

func sizeOption(name string, aliases []string, field func(*Job) *Size) *option {
	return &option{
		name: name, aliases: aliases,
		read: func(j *Job, v string) (b *bad) { *field(j), b = readSize(v); return b },
		write: func(j *Job) string {
			if s := *field(j); s.Percent != 0 {
				return strconv.Itoa(s.Percent) + "%"
			}
			return formatSize(field(j).Bytes)
		},
	}
}

func timeOption(name string, aliases []string, bare int64, field func(*Job) *int64) *option {
	return &option{
		name: name, aliases: aliases,
		read:  func(j *Job, v string) (b *bad) { *field(j), b = readTime(v, bare); return b },
		write: func(j *Job) string { return formatTime(*field(j) / 1000) },
	}
}

func boolOption(name string, field func(*Job) *bool) *option {
	return &option{
		name: name,
		read: func(j *Job, v string) (b *bad) { *field(j), b = readBool(v); return b },
		write: func(j *Job) string {
			if *field(j) {
				return "1"
			}
			return "0"
		},
	}
}

// A flag is a boolean that may stand without its value.
func flagOption(name string, field func(*Job) *bool, aliases ...string) *option {
	o := boolOption(name, field)
	o.bare, o.aliases = true, aliases
	return o
}

func uringOption(name string, field func(*Job) *bool) *option {
	o := flagOption(name, field)
	o.uring = true
	return o
}

func writePair(read, write int64, one func(int64) string) string {
	if read == write {
		return one(read)
	}
	return one(read) + "," + one(write)
}

// readNames splits a list of file names at the colons that no backslash
// precedes; fio drops blanks in front of the list and knows no other escape.
func readNames(v string) ([]string, *bad) {
	var names []string
	var name strings.Builder
	end := func() {
		if name.Len() > 0 {
			names = append(names, name.String())
		}
		name.Reset()
	}
	for v = strings.TrimLeft(v, " \t"); v != ""; {
		switch {
		case strings.HasPrefix(v, `\:`):
			name.WriteByte(':')
			v = v[2:]
		case v[0] == ':':
			end()
			v = v[1:]
		default:
			name.WriteByte(v[0])
			v = v[1:]
		}
	}
	end()
	if len(names) == 0 {
		return nil, invalid("no name")
	}
	return names, nil
}

func writeNames(names []string) string {
	esc := make([]string, len(names))
	for i, n := range names {
		esc[i] = strings.ReplaceAll(n, ":", `\:`)
	}
	return strings.Join(esc, ":")
}

// readCPUs reads a list of CPUs as 0,2-3. fio takes more (0:1, blanks, "abc" as
// 0), and a list of no CPU of this machine, but does not say so.
func readCPUs(v string) ([]int, *bad) {
	cpus, err := ParseCPUs(v)
	if err != nil || len(cpus) == 0 {
		return nil, invalid("not a list of CPUs; write for example 0,2-3")
	}
	return cpus, nil
}

// maxPercentiles is fio's limit, beyond which it drops the rest with a message.
const maxPercentiles = 20

func readPercentiles(v string) ([]float64, *bad) {
	var ps []float64
	for s := range strings.SplitSeq(v, ":") {
		s = strings.TrimSpace(s)
		p, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil || strings.Trim(s, "0123456789.") != "":
			return nil, invalid("%q is not a percentile; write for example 50:99:99.9", s)
		case p < 0 || p > 100:
			return nil, invalid("%s is not between 0 and 100", s)
		}
		ps = append(ps, p)
	}
	if len(ps) > maxPercentiles {
		return nil, invalid("%d percentiles; fio takes at most %d and drops the rest", len(ps), maxPercentiles)
	}
	return ps, nil
}

func writePercentiles(ps []float64) string {
	s := make([]string, len(ps))
	for i, p := range ps {
		s[i] = strconv.FormatFloat(p, 'f', -1, 64)
	}
	return strings.Join(s, ":")
}
