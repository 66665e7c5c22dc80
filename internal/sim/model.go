package sim

// A Model is a drive and the machine around it, as one JSON file. Everything
// that is left out does not happen: a drive without "slc" has no cache that
// could fill up. Units are in the names; temperatures are degrees Celsius.
type Model struct {
	// Name of the model, as reports show it.
	Name string `json:"name"`
	// Kind is "calibrated" (fitted to published figures, which Sources name) or
	// "archetype" (invented, to show a kind of drive).
	Kind string `json:"kind"`
	// About says in a sentence what the model is and is not.
	About string `json:"about"`
	// Sources of the figures, one a line; what is assumed says so.
	Sources []string `json:"sources"`

	// Drive is what the drive is, Machine the computer around it.
	Drive   Identity `json:"drive"`
	Machine Computer `json:"machine"`
	// Limits are the speeds of the cool, idle drive.
	Limits Limits `json:"limits"`
	// Container is the share of a limit that is left inside a container, by the
	// name of the limit; 1 where it is not named. What CPUs cost is in Machine.
	Container map[string]float64 `json:"container,omitempty"`
	// Thermal says how the drive warms up, and what it does then.
	Thermal Thermal `json:"thermal"`
	// SLC is its cache of writes, GC what random writes bring about.
	SLC *SLC `json:"slc,omitempty"`
	GC  *GC  `json:"garbage_collection,omitempty"`
	// Sensors in the order of the health log, the composite first. None: a drive
	// whose temperature cannot be read.
	Sensors []Sensor `json:"sensors,omitempty"`
	// Noise is how its speed varies for no reason.
	Noise Noise `json:"noise"`
	// Events are what happens to the drive or the machine besides the test.
	Events []Event `json:"events,omitempty"`
}

// An Identity is what the drive and the kernel say of the drive.
type Identity struct {
	// Model and Firmware as the drive reports them.
	Model    string `json:"model"`
	Firmware string `json:"firmware,omitempty"`
	// Transport is "nvme", "sata" or "usb". Only nvme has a health log and a PCIe
	// link.
	Transport string `json:"transport"`
	// CapacityBytes is the size of the drive, FreeBytes what is free in the
	// directory to measure.
	CapacityBytes int64 `json:"capacity_bytes"`
	FreeBytes     int64 `json:"free_bytes"`
	// FSType is the filesystem there, and Layer "lvm", "crypt" or "" what lies
	// between it and the drive.
	FSType string `json:"fstype"`
	Layer  string `json:"layer,omitempty"`
	// WCTEMP and CCTEMP are the warning and the critical threshold of the
	// composite temperature, as tools print them (kelvin less 273); left out where
	// the drive reports none.
	WCTEMP *float64 `json:"wctemp_celsius,omitempty"`
	CCTEMP *float64 `json:"cctemp_celsius,omitempty"`
	// PowerStatesWatts are the most that each operational power state takes.
	PowerStatesWatts []float64 `json:"power_states_watts,omitempty"`
	// PowerState is the state that the drive is in, and PowerStateSpeed the share
	// of its speed that is left there; nothing where it is left out.
	PowerState      int     `json:"power_state,omitempty"`
	PowerStateSpeed float64 `json:"power_state_speed,omitempty"`
	// PercentageUsed of the rated endurance.
	PercentageUsed int64 `json:"percentage_used,omitempty"`
	// Link is the PCIe link at the start; left out where there is none.
	Link *Link `json:"pcie_link,omitempty"`
}

// A Link is a PCIe link: as it runs, and the most that drive and port can do.
type Link struct {
	// SpeedMTs is the speed in MT/s (PCIe 5.0 is 32000), Width the lanes.
	SpeedMTs int `json:"speed_mts"`
	Width    int `json:"width"`
	// MaxSpeedMTs and MaxWidth are the drive's, PortMaxSpeedMTs and PortMaxWidth
	// those of the port that it is plugged into.
	MaxSpeedMTs     int `json:"max_speed_mts"`
	MaxWidth        int `json:"max_width"`
	PortMaxSpeedMTs int `json:"port_max_speed_mts"`
	PortMaxWidth    int `json:"port_max_width"`
}

// A Computer is the machine around the drive.
type Computer struct {
	// CPUModel, Board, OS and Kernel are what the machine says of itself.
	CPUModel string `json:"cpu_model"`
	Board    string `json:"board,omitempty"`
	OS       string `json:"os"`
	Kernel   string `json:"kernel"`
	// PVE is the version of Proxmox VE; empty where it is another system.
	PVE string `json:"pve,omitempty"`
	// MemoryBytes is the size of its memory.
	MemoryBytes int64 `json:"memory_bytes"`
	// PerformanceCPUs come first in the numbering; on a machine whose cores are
	// all alike EfficiencyCPUs is 0.
	PerformanceCPUs int `json:"performance_cpus"`
	EfficiencyCPUs  int `json:"efficiency_cpus,omitempty"`
	// CPUHz is the frequency that a CPU holds under load.
	CPUHz float64 `json:"cpu_hz"`
	// ReadIOPSPerCPU and WriteIOPSPerCPU are the I/Os a second that one CPU can
	// submit and reap: with few CPUs they limit small I/Os and not the drive.
	ReadIOPSPerCPU  float64 `json:"read_iops_per_cpu"`
	WriteIOPSPerCPU float64 `json:"write_iops_per_cpu"`
	// QuotaCPUs is a limit of CPU time (cpu.max) on the pinned host and the
	// container, in CPUs; 0 is none. The kernel counts how often it throttles.
	QuotaCPUs float64 `json:"quota_cpus,omitempty"`
}

// Limits are what the cool drive can do. A workload runs at the lower of the
// two of its direction: IOPS for small I/Os, bytes for large ones, whatever the
// order of the offsets.
type Limits struct {
	// ReadIOPS and WriteIOPS are I/Os a second, ReadBytes and WriteBytes bytes a
	// second; their names are those that other fields use.
	ReadIOPS   Limit `json:"read_iops"`
	ReadBytes  Limit `json:"read_bytes"`
	WriteIOPS  Limit `json:"write_iops"`
	WriteBytes Limit `json:"write_bytes"`
	// ReadSeconds and WriteSeconds are how long one I/O takes when it is alone,
	// FlushSeconds a flush (fdatasync) after one write.
	ReadSeconds  float64 `json:"read_seconds"`
	WriteSeconds float64 `json:"write_seconds"`
	FlushSeconds float64 `json:"flush_seconds"`
	// LatencySpread is the standard deviation of ln(latency) in one second: 0.3
	// puts p99 at twice the median.
	LatencySpread float64 `json:"latency_spread"`
}

// A Limit is one speed of the drive and what it costs in power.
type Limit struct {
	// PerSecond is I/Os or bytes a second.
	PerSecond float64 `json:"per_second"`
	// WattsActive is the power when the drive is kept busy but moves almost
	// nothing, WattsFull that at PerSecond; in between it is linear.
	WattsActive float64 `json:"watts_active"`
	WattsFull   float64 `json:"watts_full"`
}

// Thermal is a network of two nodes, the junction of the controller and the
// board with its heatsink: junction - resistance - board - resistance - air.
type Thermal struct {
	// AmbientCelsius is the temperature of the air around the drive, IdleWatts
	// what the drive takes when it does nothing.
	AmbientCelsius float64 `json:"ambient_celsius"`
	IdleWatts      float64 `json:"idle_watts"`
	// JunctionJoulesPerKelvin and BoardJoulesPerKelvin are the heat capacities of
	// the nodes, JunctionKelvinPerWatt the resistance between them and
	// BoardKelvinPerWatt that to the air.
	JunctionJoulesPerKelvin float64 `json:"junction_joules_per_kelvin"`
	JunctionKelvinPerWatt   float64 `json:"junction_kelvin_per_watt"`
	BoardJoulesPerKelvin    float64 `json:"board_joules_per_kelvin"`
	BoardKelvinPerWatt      float64 `json:"board_kelvin_per_watt"`
	// StartCelsius is the temperature of both nodes at the start; left out is
	// that of the idle drive.
	StartCelsius *float64 `json:"start_celsius,omitempty"`
	// Throttle are the steps by which the drive slows itself down, from the
	// coolest to the hottest; one step alone is all or nothing. The hottest one
	// that is on counts.
	Throttle []Step `json:"throttle,omitempty"`
}

// A Step of throttling is on from one temperature of the junction until it has
// fallen to another.
type Step struct {
	// Name of the step, such as light or heavy.
	Name string `json:"name"`
	// FromCelsius and UntilCelsius are of the junction.
	FromCelsius  float64 `json:"from_celsius"`
	UntilCelsius float64 `json:"until_celsius"`
	// Speed is the share of each limit that is left; 0 leaves the limits alone.
	Speed float64 `json:"speed,omitempty"`
	// For replaces FromCelsius and Speed for one limit, by its name.
	For map[string]StepFor `json:"for,omitempty"`
	// LinkSpeedMTs and LinkWidth make the step throttle through the PCIe link: it
	// is retrained to these while the step is on.
	LinkSpeedMTs int `json:"link_speed_mts,omitempty"`
	LinkWidth    int `json:"link_width,omitempty"`
	// TMT is 1 or 2 where the drive counts the step in the health log as light or
	// heavy thermal management; 0 counts nothing.
	TMT int `json:"tmt,omitempty"`
	// TMTCelsius is the threshold of the composite temperature that the drive
	// gives for it (Set Features, TMT1 and TMT2); 0 gives none, as where the
	// firmware goes by another sensor.
	TMTCelsius float64 `json:"tmt_celsius,omitempty"`
}

// A StepFor is a step for one kind of load.
type StepFor struct {
	// FromCelsius is of the junction, Speed the share of the limit that is left.
	FromCelsius float64 `json:"from_celsius"`
	Speed       float64 `json:"speed"`
}

// An SLC cache takes writes fast until it is full.
type SLC struct {
	// SizeBytes of writes fit into the empty cache.
	SizeBytes int64 `json:"size_bytes"`
	// DirectBytesPerSecond is the speed past the full cache, for DirectBytes;
	// then everything is folded at FoldingBytesPerSecond. Without DirectBytes
	// direct writes never end.
	DirectBytesPerSecond  float64 `json:"direct_bytes_per_second"`
	DirectBytes           int64   `json:"direct_bytes,omitempty"`
	FoldingBytesPerSecond float64 `json:"folding_bytes_per_second,omitempty"`
	// RecoverAfterSeconds without writes the drive begins to empty the cache, at
	// RecoverBytesPerSecond.
	RecoverAfterSeconds   float64 `json:"recover_after_seconds"`
	RecoverBytesPerSecond float64 `json:"recover_bytes_per_second"`
	// KeepsOverwritten is true where only what is valid fills the cache, so that
	// a file smaller than the cache can be overwritten for ever.
	KeepsOverwritten bool `json:"keeps_overwritten,omitempty"`
	// FilledBytes are in the cache at the start.
	FilledBytes int64 `json:"filled_bytes,omitempty"`
}

// GC is garbage collection, which random writes bring about in the end.
type GC struct {
	// AfterBytes of random writes it sets in, over RampBytes more it takes hold,
	// and then Speed is the share that is left of random writes.
	AfterBytes int64   `json:"after_bytes"`
	RampBytes  int64   `json:"ramp_bytes"`
	Speed      float64 `json:"speed"`
	// RecoverBytesPerSecond is how fast the drive collects when nothing writes.
	RecoverBytesPerSecond float64 `json:"recover_bytes_per_second"`
}

// A Sensor is what the drive reports of its temperature, which need not be one.
type Sensor struct {
	// Number is 1 to 8 as in the health log, 0 for the composite.
	Number int `json:"number"`
	// Node is "junction" or "board".
	Node string `json:"node"`
	// Gain is the share of the node's rise above the air that the sensor sees; 0
	// means all of it.
	Gain float64 `json:"gain,omitempty"`
	// OffsetKelvin is added to what it reads.
	OffsetKelvin float64 `json:"offset_kelvin,omitempty"`
	// LagSeconds is its time constant.
	LagSeconds float64 `json:"lag_seconds,omitempty"`
	// StepKelvin is the resolution; 0 means 1 K, as in the health log.
	StepKelvin float64 `json:"step_kelvin,omitempty"`
	// StuckCelsius is what the sensor says whatever the temperature is, from
	// StuckAfterSeconds of the run on.
	StuckCelsius      *float64 `json:"stuck_celsius,omitempty"`
	StuckAfterSeconds float64  `json:"stuck_after_seconds,omitempty"`
}

// Noise is how speed varies for no reason.
type Noise struct {
	// Second is the standard deviation of ln(speed) from second to second, and
	// Correlation how much of it lasts to the next one (the AR(1) coefficient).
	Second      float64 `json:"second"`
	Correlation float64 `json:"correlation"`
	// Pass is the standard deviation of ln(speed) from pass to pass.
	Pass float64 `json:"pass"`
	// DriftPerMinute is how much ln(speed) rises in a minute of a pass; falls
	// where it is negative.
	DriftPerMinute float64 `json:"drift_per_minute,omitempty"`
	// Swing is the amplitude of a wave in ln(speed), SwingSeconds its period.
	Swing        float64 `json:"swing,omitempty"`
	SwingSeconds float64 `json:"swing_seconds,omitempty"`
	// Outliers is the share of seconds that are slow for no reason, OutlierLoss
	// how much is lost in them.
	Outliers    float64 `json:"outliers,omitempty"`
	OutlierLoss float64 `json:"outlier_loss,omitempty"`
}

// An Event is something that happens besides the test.
type Event struct {
	// Kind is one of: neighbour, link, cpu-frequency, cpu-load, cpu-quota,
	// device-reset, media-errors, unknown.
	Kind string `json:"kind"`
	// Pass counts the passes of the run from 0; left out is every pass.
	Pass *int `json:"pass,omitempty"`
	// FromSeconds and UntilSeconds are of the pass; without UntilSeconds the event
	// lasts to its end.
	FromSeconds  float64 `json:"from_seconds"`
	UntilSeconds float64 `json:"until_seconds,omitempty"`
	// Share is how much is taken away, more than 0 and less than 1: of the drive by a neighbour, of
	// the frequency, of the CPUs by other load, of the speed by media errors
	// that the drive corrects or by something unknown.
	Share float64 `json:"share,omitempty"`
	// Writes is true where the neighbour writes.
	Writes bool `json:"writes,omitempty"`
	// Fails is true where media errors reach the test: its first one fails with
	// EIO and ends the pass.
	Fails bool `json:"fails,omitempty"`
	// SpeedMTs and Width are the link of a link event.
	SpeedMTs int `json:"speed_mts,omitempty"`
	Width    int `json:"width,omitempty"`
	// CPUs is the limit of a cpu-quota event.
	CPUs float64 `json:"cpus,omitempty"`
	// Hot is true where a cpu-frequency event is the CPU's own protection against
	// heat, which its counters show.
	Hot bool `json:"hot,omitempty"`
}

// Names of the limits.
const (
	ReadIOPS   = "read_iops"
	ReadBytes  = "read_bytes"
	WriteIOPS  = "write_iops"
	WriteBytes = "write_bytes"
)

// Kinds of events.
const (
	EventNeighbour    = "neighbour"
	EventLink         = "link"
	EventCPUFrequency = "cpu-frequency"
	EventCPULoad      = "cpu-load"
	EventCPUQuota     = "cpu-quota"
	EventReset        = "device-reset"
	EventMediaErrors  = "media-errors"
	EventUnknown      = "unknown"
)

// limit returns the limit of that name.
func (l *Limits) limit(name string) *Limit {
	switch name {
	case ReadIOPS:
		return &l.ReadIOPS
	case ReadBytes:
		return &l.ReadBytes
	case WriteIOPS:
		return &l.WriteIOPS
	}
	return &l.WriteBytes
}

// CPUs is the number of CPUs of the machine.
func (c *Computer) CPUs() int { return c.PerformanceCPUs + c.EfficiencyCPUs }
