package record

import "time"

// An Info is what nativ info says of a machine: nothing of it was measured
// under load.
type Info struct {
	SchemaVersion int       `json:"schema_version"`
	Tool          Tool      `json:"tool"`
	Time          time.Time `json:"time"`
	Host          Host      `json:"host"`
	// Targets are the directories that were asked for; none is the machine as a
	// whole.
	Targets []Target `json:"targets,omitempty"`
	// Drives are those under the targets or, without any, all of the machine.
	Drives []Drive `json:"drives"`
	// Effects are what each layer of the targets does to a number, from the
	// filesystem down.
	Effects []Effect `json:"effects,omitempty"`
	// Sample was read once; Sources says what could not be read, and why.
	Sample  Sample   `json:"sample"`
	Sources []Source `json:"sources"`
	Checks  []Check  `json:"checks"`
}

// A Check is one thing that measuring needs, and whether this machine has it.
type Check struct {
	// Code is one of the Check constants.
	Code string `json:"code"`
	// State is one of the State constants.
	State string `json:"state"`
	// About is what the check is of where there are several, a directory.
	About string `json:"about,omitempty"`
	// Reason is one of several ways in which the state can be; see the codes.
	Reason string `json:"reason,omitempty"`
	// Words are facts for the text, by the names given with each code.
	Words map[string]string `json:"words,omitempty"`
	// Fix is the command that would help, as it is typed; "" where there is none.
	Fix string `json:"fix,omitempty"`
}

// States of a check.
const (
	StateOK      = "ok"
	StateLimited = "limited" // works, but not in full
	StateMissing = "missing"
	StateNone    = "not-applicable" // and nobody need do anything about it
)

// Checks, in the order in which they are told. Reasons stand in brackets.
const (
	// CheckRoot: nativ runs as root [limited: "user"].
	CheckRoot = "root"
	// CheckIOUring: io_uring works. Words: features, why.
	// [limited: "containers", only for the privileged; missing: a sys.UringCause]
	CheckIOUring = "io_uring"
	// CheckTestFile: nativ bench would make its file in About. Words: fstype.
	// [missing: "memory", "overlay", "pseudo", "read-only", "space"]
	CheckTestFile = "test-file"
	// CheckDirectIO: direct I/O in About. Words: memory, offset (bytes), why.
	// [limited: "unknown", it could not be tried; missing: "no-direct"]
	CheckDirectIO = "direct-io"
	// CheckLXC: LXC's programs. Words: version, program.
	CheckLXC = "lxc"
	// CheckUserNS: unprivileged containers. Words: first, count, max.
	// [ok: "default" without a range in /etc/subuid; missing: "kernel", "sysctl"]
	CheckUserNS = "unprivileged-containers"
	// CheckCgroup: the controllers that the places need. Words: layout,
	// controllers, missing, why. [missing: "none", "controllers"]
	CheckCgroup = "cgroup"
	// CheckAppArmor: containers are confined. [limited: "parser";
	// not-applicable: "kernel"]
	CheckAppArmor = "apparmor"
	// CheckTemperature: the drives' sensors. Words: drives (without), health
	// (drives with the health log). [limited: "hwmon" only, "some"; missing:
	// "none"; not-applicable: "virtual"]
	CheckTemperature = "temperature"
	// CheckCounters: the drives' I/O counters. Words: drives (without).
	CheckCounters = "counters"
	// CheckPVE: Proxmox VE and its tools. Words: version, programs.
	// [not-applicable; missing: "tools"]
	CheckPVE = "proxmox"
	// CheckFio: fio, which is only needed for --engine fio. Words: version, why.
	// [missing: "none", "broken"]
	CheckFio = "fio"
	// CheckSmartctl and CheckNVMeCLI: tools to compare with. Words: path.
	CheckSmartctl = "smartctl"
	CheckNVMeCLI  = "nvme-cli"
)

// A WatchPoint is one line of nativ watch --json.
type WatchPoint struct {
	Time time.Time `json:"time"`
	// Rates are by drive, since the point before; none in the first.
	Rates map[string]Rates `json:"rates,omitempty"`
	// Sample holds readings, and counters since the kernel's or the drive's start.
	Sample Sample `json:"sample"`
	// Sources says once, in the first point, what is read and what cannot be.
	Sources []Source `json:"sources,omitempty"`
	// Drives are the drives that are watched, in the first point.
	Drives []Drive `json:"drives,omitempty"`
}

// Rates are what a drive did between two points. The kernel counts an I/O when
// it is complete; it merges neighbouring ones, so that these may be fewer and
// larger than those of the programs.
type Rates struct {
	IntervalNS    int64   `json:"interval_ns"`
	ReadIOPS      float64 `json:"read_iops"`
	ReadBytesSec  float64 `json:"read_bytes_per_s"`
	WriteIOPS     float64 `json:"write_iops"`
	WriteBytesSec float64 `json:"write_bytes_per_s"`
	// Busy is the share of the time with I/O in flight; QueueDepth is how many
	// were in flight on average.
	Busy       float64 `json:"busy"`
	QueueDepth float64 `json:"queue_depth"`
}

// RatesBetween returns what a drive did from a to b, or false where the counters
// do not follow each other: it was removed, or they began anew.
func RatesBetween(a, b DeviceCounters, ns int64) (Rates, bool) {
	if ns <= 0 || b.ReadIOs < a.ReadIOs || b.WriteIOs < a.WriteIOs || b.ReadBytes < a.ReadBytes ||
		b.WriteBytes < a.WriteBytes || b.BusyNS < a.BusyNS || b.QueueNS < a.QueueNS {
		return Rates{}, false
	}
	per := func(from, to int64) float64 { return float64(to-from) / float64(ns) * 1e9 }
	return Rates{
		IntervalNS: ns, ReadIOPS: per(a.ReadIOs, b.ReadIOs), ReadBytesSec: per(a.ReadBytes, b.ReadBytes),
		WriteIOPS: per(a.WriteIOs, b.WriteIOs), WriteBytesSec: per(a.WriteBytes, b.WriteBytes),
		// Ticks are whole milliseconds and may run over the interval a little.
		Busy: min(float64(b.BusyNS-a.BusyNS)/float64(ns), 1), QueueDepth: float64(b.QueueNS-a.QueueNS) / float64(ns),
	}, true
}
