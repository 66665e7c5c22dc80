package audit

import (
	"nativ/internal/job"
	"nativ/internal/record"
)

// A Kind is what a file is.
type Kind string

// The kinds of files.
const (
	KindTable  Kind = "table"  // a published table, as JSON or Markdown
	KindFio    Kind = "fio"    // JSON of fio
	KindJob    Kind = "job"    // a job file
	KindRecord Kind = "record" // of nativ
)

// A Subject is what one file says, in one form for all kinds. What it does not
// say is nil, 0 or "".
type Subject struct {
	File  string
	Kind  Kind
	Title string
	// Statistic is one of record's Statistic constants, "" where not told.
	Statistic string
	Sides     []Side
	Claims    []Claim
	Drive     Drive
	// HostMemory is that of the machine, in bytes; HostCPUs how many threads it
	// has.
	HostMemory int64
	HostCPUs   int
	// FSType is the filesystem's, in the kernel's spelling; LoopCached and
	// Network say what lies below it.
	FSType     string
	LoopCached bool
	Network    bool
	// Preset is that of a record, "" elsewhere.
	Preset string
	// Rec is set with KindRecord.
	Rec *record.Record
	// shared are the settings that the text of a publication says for all rows.
	shared *Settings
	// Oddities are what the reader of fio's JSON noted: a code of fiojson, the job.
	Oddities []Oddity
}

// An Oddity is a Diagnostic of package fiojson.
type Oddity struct{ Code, Job, Detail string }

// A Drive is what is known of the drive from the file or from its maker.
type Drive struct {
	Model string
	Bytes int64
	// LinkBytes is what its link carries, in bytes a second; Link is how it is
	// called.
	LinkBytes float64
	Link      string
	// The maker's "up to": bytes and I/Os a second.
	ReadBytes, WriteBytes, ReadIOPS, WriteIOPS float64
	// WarningMC and CriticalMC are WCTEMP and CCTEMP in millidegrees Celsius.
	WarningMC, CriticalMC *int64
	// RatingSource says whose figures they are: "file" or "maker".
	RatingSource string
}

// A Role is what a side is in a comparison.
type Role string

// The roles of sides. Hot is the drive after it throttled.
const (
	RoleUnknown   Role = ""
	RoleHost      Role = "host"
	RolePinned    Role = "pinned"
	RoleContainer Role = "container"
)

// A Side is one column of a comparison: a table, a place, the jobs of a file.
type Side struct {
	Name string
	// Where is its place in the file.
	Where string
	Role  Role
	Hot   bool
	// CPUs is how many it could use; 0 where not told.
	CPUs int
	// Memory is its limit in bytes; 0 where not told.
	Memory int64
	Rows   []Row
}

// A Row is one result, or one job that makes one.
type Row struct {
	// Where is the place in the file, Name what to call it in a sentence.
	Where string
	Name  string
	Mode  job.Mode // "" where not told
	BS    int64    // 0 where not told or not one
	// IOPS and BPS (bytes a second) are as printed; nil where not told.
	IOPS, BPS *Number
	// Dir is "read", "write" or "mixed".
	Dir string
	// Set are the settings of its job; nil where none is known.
	Set *Settings
	Lat []Latency
	// FromMC is the temperature from which it holds.
	FromMC *int64
	// IOs, Bytes and RuntimeNS are what rates were computed from.
	IOs, Bytes *int64
	RuntimeNS  int64
	// CPU is the share of its threads' time that was spent computing.
	CPU *float64
	// DeviceRatio is the bytes that the drive moved for each of the row.
	DeviceRatio *float64
	// Runs is how often it was measured; 0 where not told.
	Runs int
	// Interval is true where a spread or interval stands beside it.
	Interval bool
}

// reads reports whether the row is of reads alone.
func (r *Row) reads() bool { return r.Mode == job.Read || r.Mode == job.RandRead }

// A Number is a value as it was printed.
type Number struct {
	// V is in base units.
	V float64
	// ULP is the worth of its last printed digit, in base units: it may be
	// rounded or cut off there.
	ULP float64
	// Text is how it was printed, with its unit where that stood there.
	Text string
}

// A Latency is what a row says of one kind of latency, in nanoseconds.
type Latency struct {
	Kind           string // "lat", "clat", "slat"
	Min, Max, Mean *Number
	Stddev         *Number
	// Percentiles are ascending.
	Percentiles []Percentile
}

// A Percentile is one of them, as printed.
type Percentile struct {
	P float64
	Number
}

// Settings are those of a job, as far as rules ask for them.
type Settings struct {
	Engine string // "" is fio's default, psync
	Depth  int    // 0 where not told
	Jobs   int
	Direct bool
	// DirectTold is true where the file sets it or has all options.
	DirectTold bool
	RuntimeNS  int64
	TimeBased  bool
	RampNS     int64
	// Apart is true where jobs have offsets of their own.
	Apart bool
	// Size is that of what the job works on, in bytes; SizePercent that of the
	// file.
	Size        int64
	SizePercent int
	Target      string // filename
	Zero        bool
	Compress    int // percent
	Dedupe      int // percent
	Pattern     bool
	Syncs       bool
	// All is true where options that are not there have fio's default.
	All bool
	// Nativ: nativ made the I/O, whose engine keeps its depth.
	Nativ bool
	// RateLimited: the job was slowed down on purpose.
	RateLimited bool
}

// async reports whether the engine keeps more than one I/O in flight.
func (s *Settings) async() bool {
	switch s.Engine {
	case "", "psync", "sync", "vsync", "pvsync", "pvsync2", "mmap":
		return false
	}
	return true
}

// depth is what can be in flight over all jobs; 0 where not known.
func (s *Settings) depth() float64 {
	if s == nil || s.Depth <= 0 || s.Jobs <= 0 {
		return 0
	}
	if !s.Nativ && !s.async() && s.All {
		return float64(s.Jobs)
	}
	return float64(s.Depth) * float64(s.Jobs)
}

// each calls f with every row.
func (s *Subject) each(f func(*Side, *Row)) {
	for i := range s.Sides {
		for j := range s.Sides[i].Rows {
			f(&s.Sides[i], &s.Sides[i].Rows[j])
		}
	}
}
