package record

// Health is the SMART / Health Information log page (02h, NVM Express base
// specification, 5.16.1.3 in 2.0) of one NVMe controller: everything in it is
// of one instant.
type Health struct {
	// CriticalWarning holds the bits of the drive's own alarm; see the Critical
	// constants.
	CriticalWarning uint8 `json:"critical_warning"`
	// CompositeMC is the composite temperature in millidegrees Celsius, which is
	// the drive's own idea and may be of no physical point; nil where it reports
	// none (0 K) or what cannot be one.
	CompositeMC *int64 `json:"composite_mc,omitempty"`
	// SensorsMC are the temperature sensors by number, 1 to 8; those that are
	// not implemented are left out.
	SensorsMC map[int]int64 `json:"sensors_mc,omitempty"`

	AvailableSpare int64 `json:"available_spare_percent"`
	SpareThreshold int64 `json:"spare_threshold_percent"`
	// PercentageUsed of the rated endurance; may exceed 100.
	PercentageUsed int64 `json:"percentage_used"`
	// ReadBytes and WrittenBytes are data units of 512,000 bytes, rounded up.
	ReadBytes     int64 `json:"read_bytes"`
	WrittenBytes  int64 `json:"written_bytes"`
	ReadCommands  int64 `json:"read_commands"`
	WriteCommands int64 `json:"write_commands"`
	BusyMinutes   int64 `json:"busy_minutes"`
	PowerCycles   int64 `json:"power_cycles"`
	PowerOnHours  int64 `json:"power_on_hours"`
	// UnsafeShutdowns to ErrorLogEntries count over the drive's life.
	UnsafeShutdowns int64 `json:"unsafe_shutdowns"`
	MediaErrors     int64 `json:"media_errors"`
	ErrorLogEntries int64 `json:"error_log_entries"`
	// WarningMinutes and CriticalMinutes are how long the composite temperature
	// was from WCTEMP up to CCTEMP, and from CCTEMP up. Full minutes: no use for
	// an onset.
	WarningMinutes  int64 `json:"warning_minutes"`
	CriticalMinutes int64 `json:"critical_minutes"`
	// TMT1 (light) and TMT2 (heavy) throttling that the host asked for (HCTM):
	// transitions and seconds. 0 is never or not implemented; what a drive does
	// by itself need not count here.
	TMT1Transitions int64 `json:"tmt1_transitions"`
	TMT2Transitions int64 `json:"tmt2_transitions"`
	TMT1Seconds     int64 `json:"tmt1_seconds"`
	TMT2Seconds     int64 `json:"tmt2_seconds"`
}

// Bits of Health.CriticalWarning.
const (
	CriticalSpare       = 1 << 0 // available spare below the threshold
	CriticalTemperature = 1 << 1 // a temperature is over or under a threshold
	CriticalReliability = 1 << 2
	CriticalReadOnly    = 1 << 3
	CriticalBackup      = 1 << 4 // volatile memory backup failed
	CriticalPMR         = 1 << 5 // persistent memory region
)

// NVMe is what an NVMe controller says of itself and how it is set, read once.
// What could not be read is nil; Missing then says why, by what was asked
// ("identify", "features", "health").
type NVMe struct {
	Version string `json:"version,omitempty"` // "2.0.0"
	// WarningMC and CriticalMC are WCTEMP and CCTEMP; nil where not reported.
	WarningMC  *int64 `json:"wctemp_mc,omitempty"`
	CriticalMC *int64 `json:"cctemp_mc,omitempty"`
	// HCTM is whether the host may set thermal management, between MinTMTMC and
	// MaxTMTMC; TMT1MC and TMT2MC are what is set, nil where disabled.
	HCTM     *bool  `json:"hctm,omitempty"`
	MinTMTMC *int64 `json:"mntmt_mc,omitempty"`
	MaxTMTMC *int64 `json:"mxtmt_mc,omitempty"`
	TMT1MC   *int64 `json:"tmt1_mc,omitempty"`
	TMT2MC   *int64 `json:"tmt2_mc,omitempty"`
	// OverMC and UnderMC are the thresholds of the composite temperature as set.
	OverMC  *int64 `json:"over_threshold_mc,omitempty"`
	UnderMC *int64 `json:"under_threshold_mc,omitempty"`
	// PowerState is the one in use, an index of PowerStates; APST whether the
	// drive changes it by itself.
	PowerState  *int         `json:"power_state,omitempty"`
	PowerStates []PowerState `json:"power_states,omitempty"`
	APST        *bool        `json:"apst,omitempty"`
	// CapacityBytes is the NVM capacity of the whole controller, nil where it
	// does not tell.
	CapacityBytes *int64 `json:"capacity_bytes,omitempty"`
	// Namespaces are the block devices of the controller's namespaces.
	Namespaces []string          `json:"namespaces,omitempty"`
	Missing    map[string]string `json:"missing,omitempty"`
}

// A PowerState of an NVMe controller.
type PowerState struct {
	// MaxPowerUW is the most that it takes, in microwatts; nil where not told.
	MaxPowerUW     *int64 `json:"max_power_uw,omitempty"`
	NonOperational bool   `json:"non_operational,omitempty"`
	EntryLatencyNS int64  `json:"entry_latency_ns"`
	ExitLatencyNS  int64  `json:"exit_latency_ns"`
}

// LinkState is a PCIe link at one moment, in MT/s and lanes.
type LinkState struct {
	SpeedMTs int `json:"speed_mts"`
	Width    int `json:"width"`
}

// AER are the error counters of one PCIe function since its driver's start.
type AER struct {
	Correctable int64 `json:"correctable"`
	NonFatal    int64 `json:"nonfatal"`
	Fatal       int64 `json:"fatal"`
}

// CPUThermal are counters of x86 thermal throttling, and the hottest package.
type CPUThermal struct {
	// CoreThrottles and PackageThrottles are sums over the CPUs and packages.
	CoreThrottles    *int64 `json:"core_throttles,omitempty"`
	PackageThrottles *int64 `json:"package_throttles,omitempty"`
	PackageMC        *int64 `json:"package_mc,omitempty"`
}

// Pressure are the totals of /proc/pressure in nanoseconds: how long some, or
// all, tasks stood still for lack of the resource.
type Pressure struct {
	CPUSomeNS    *int64 `json:"cpu_some_ns,omitempty"`
	IOSomeNS     *int64 `json:"io_some_ns,omitempty"`
	IOFullNS     *int64 `json:"io_full_ns,omitempty"`
	MemorySomeNS *int64 `json:"memory_some_ns,omitempty"`
}

// A KernelLine is a line of the kernel's log that is about the drives, in the
// time of a run.
type KernelLine struct {
	MonoNS int64  `json:"mono_ns"`
	Level  int    `json:"level"` // as of syslog, 3 is an error
	Text   string `json:"text"`
	// Kind is "reset", "io-error", "timeout", "pcie-error", "link" or "other".
	Kind string `json:"kind"`
}

// CoolDown is what happened before a pass so that it starts no hotter than the
// others.
type CoolDown struct {
	// Sensor names the temperature that was waited for.
	Sensor string `json:"sensor"`
	// FromMC and ToMC are its readings before and after the wait; TargetMC is
	// the upper end of the band.
	FromMC   int64 `json:"from_mc"`
	ToMC     int64 `json:"to_mc"`
	TargetMC int64 `json:"target_mc"`
	WaitedNS int64 `json:"waited_ns"`
	// Ended is one of the Cool constants.
	Ended string `json:"ended"`
}

// Ways in which a cool-down ends.
const (
	CoolBand   = "band"   // back in the band
	CoolSteady = "steady" // above it, but changing by less than 0.5 °C a minute
	CoolLimit  = "limit"  // the time was over: the pass starts hot
	CoolLost   = "lost"   // the temperature could not be read any more
)

// Roles of a step, where a pass is more than one of many: those of the presets
// that look for heat and caches.
const (
	RoleLoad   = "load"   // load until it throttles or is steady
	RoleProbe  = "probe"  // short loads between pauses, to watch a recovery
	RoleResume = "resume" // the load again after a pause, which tells heat from cache
	RoleHot    = "hot"    // right after others, in the hot drive

	// These are of runs with a Design, and take no part in any mean.
	RolePilot  = "pilot"   // short, to see how much passes scatter
	RoleBurnIn = "burn-in" // first of a phase, discarded: it also sizes the others
)

// Reasons for which the run ended a pass before its limits, other than the user.
const (
	EndMaxTemp = "max-temperature"  // the composite temperature reached the ceiling
	EndPlateau = "plateau"          // a throttled or steady plateau was seen long enough
	EndHealth  = "health"           // the drive raised a critical warning or media errors
	EndReset   = "controller-reset" // the kernel reset the drive's controller
	EndTarget  = "target-lost"      // the file system is full or read-only, or the drive is gone
)

// SimulatedNotice is what a record of a simulation says of itself.
const SimulatedNotice = "SIMULATED: nothing of this was measured"

// A Simulation says that nothing of a record was measured.
type Simulation struct {
	// Notice is SimulatedNotice, for whoever reads the file without nativ.
	Notice string `json:"notice"`
	// Model is the name of the drive model, File where it came from, Hash the
	// SHA-256 of its bytes in hex.
	Model string `json:"model"`
	File  string `json:"file"`
	Hash  string `json:"hash"`
}
