package analysis

// An Evidence is one thing that speaks for or against a cause. What Value and
// Was are is said with each kind; temperatures are millidegrees Celsius, rates
// per second, times nanoseconds.
type Evidence struct {
	Kind EvidenceKind
	// Source is the sensor, counter, device or file that it comes from.
	Source string
	// Value is what was seen during the drop, Was right before it; nil where
	// there is no such number.
	Value, Was *float64
}

// An EvidenceKind names an evidence.
type EvidenceKind string

// The evidence. Those marked "against" only stand in Cause.Against.
const (
	// EvTMT: the drive counted thermal management that the host had asked for.
	// Value: seconds of it during the drop for each second.
	EvTMT EvidenceKind = "tmt-counter"
	// EvWarning: the drive raised its temperature warning at the onset.
	EvWarning EvidenceKind = "temperature-warning"
	// EvThreshold: the onset lies at a threshold of the drive. Value: the
	// reading, Was: the threshold.
	EvThreshold EvidenceKind = "at-threshold"
	// EvLead: the temperature rose until the onset. Value: the reading at the
	// onset, Was: before it rose.
	EvLead EvidenceKind = "temperature-led"
	// EvCeiling: from the onset on the temperature stayed where it was, although
	// the drive did less. Value, Was: the highest and lowest reading meanwhile.
	EvCeiling EvidenceKind = "temperature-ceiling"
	// EvCycles: each time the speed fell at the same temperature, and came back
	// when it was lower. Value, Was: the mean readings at falls and recoveries.
	EvCycles EvidenceKind = "temperature-cycles"
	// EvSameTemperature: it fell at the same temperature at another time, after
	// another number of bytes. Value: the reading here, Was: there.
	EvSameTemperature EvidenceKind = "same-temperature"
	// EvFurtherStep: in this drop it fell further, by heat, at nearly the same
	// temperature. Value: the reading there, Was: here.
	EvFurtherStep EvidenceKind = "further-step"
	// EvSameFall: another drop of the same test, from the same speed to the same, is
	// shown to be by heat. Value: the share that it lost.
	EvSameFall EvidenceKind = "same-fall"
	// EvRecoveredCool: after a pause, cooler, it was fast again. Value: the share
	// of the speed before, Was: the reading then.
	EvRecoveredCool EvidenceKind = "recovered-when-cool"
	// EvCoolSlow (against): it stayed slow although it had cooled down. Value:
	// the reading when slow, Was: at the onset.
	EvCoolSlow EvidenceKind = "slow-when-cool"
	// EvHotFast (against): at another time it was as fast as before although it
	// was hotter. Value: the reading when fast, Was: at the onset.
	EvHotFast EvidenceKind = "fast-when-hot"
	// EvSharp: the speed fell at once to a level that stays. Value: FallNS.
	EvSharp EvidenceKind = "sharp-fall"
	// EvGradual: the speed fell slowly. Value: FallNS.
	EvGradual EvidenceKind = "gradual-fall"
	// EvBytes: so much was written since the drive was idle. Value: bytes.
	EvBytes EvidenceKind = "bytes-since-idle"
	// EvSameBytes: another pass fell after as many bytes. Value: bytes here,
	// Was: there.
	EvSameBytes EvidenceKind = "same-bytes"
	// EvMoreBytes (against): more was written since idle without a fall. Value:
	// bytes there, Was: here.
	EvMoreBytes EvidenceKind = "more-bytes-without"
	// EvStaysSlow: the next writes of this kind began as slow. Value: the share of
	// the speed before.
	EvStaysSlow EvidenceKind = "slow-after-pause"
	// EvCameBack (against): the speed came back while writing went on. Value:
	// bytes written meanwhile.
	EvCameBack EvidenceKind = "recovered-while-writing"
	// EvOnlyRandom: sequential writes right after were fast. Value: share of
	// their own best speed.
	EvOnlyRandom EvidenceKind = "only-random-writes"
	// EvRead (against): reads have neither.
	EvRead EvidenceKind = "reads"
	// EvCPUBusy: the share of the place's CPUs that was busy.
	EvCPUBusy EvidenceKind = "cpu-busy"
	// EvOtherUser: the share of the CPUs that others used in user mode.
	EvOtherUser EvidenceKind = "cpu-others"
	// EvThrottled: periods a second in which the kernel held CPU time back.
	EvThrottled EvidenceKind = "cgroup-throttled"
	// EvFrequency: the mean frequency of the place's CPUs in Hz.
	EvFrequency EvidenceKind = "cpu-frequency"
	// EvCPUThrottle: thermal throttle events of the CPU a second.
	EvCPUThrottle EvidenceKind = "cpu-throttle-counter"
	// EvDeviceBytes and EvDeviceIOs: what the drive did beside the test.
	EvDeviceBytes EvidenceKind = "device-bytes-of-others"
	EvDeviceIOs   EvidenceKind = "device-ios-of-others"
	// EvLinkSpeed: the most that the PCIe link carries, in bytes a second.
	EvLinkSpeed EvidenceKind = "link-bytes"
	// EvKernelLog: lines of the kernel's log about the drive. Value: how many;
	// Source: the kind of the first.
	EvKernelLog EvidenceKind = "kernel-log"
	// EvMediaErrors: media errors that the drive counted. Value: how many.
	EvMediaErrors EvidenceKind = "media-errors"
	// EvPCIeErrors: PCIe errors that were counted. Value: how many.
	EvPCIeErrors EvidenceKind = "pcie-errors"
	// EvPower: the most that the power state in use takes, in watts. Was: state 0.
	EvPower EvidenceKind = "power-state"
	// EvStuck: the sensor never moves, and so tells nothing. Value: its reading.
	EvStuck EvidenceKind = "sensor-stuck"
	// EvNoSensor: no temperature could be read.
	EvNoSensor EvidenceKind = "no-sensor"
)

// A Test is something to do that would decide a cause.
type Test string

// The tests.
const (
	// TestPause: pause until the drive is cool, but not long, and load again:
	// heat is then gone and a full cache is not (--preset heat).
	TestPause Test = "pause-and-resume"
	// TestRead: the same with reads, which no cache for writes slows down.
	TestRead Test = "read-instead"
	// TestRepeat: repeat; what has no cause in the load will not come again.
	TestRepeat Test = "repeat"
	// TestHealthLog: read the health log, which needs privilege.
	TestHealthLog Test = "read-health-log"
	// TestCooling: measure with a fan.
	TestCooling Test = "with-fan"
	// TestQuiet: measure while nothing else runs.
	TestQuiet Test = "nothing-else"
	// TestMoreCPUs: measure with more CPUs, or without the limit.
	TestMoreCPUs Test = "more-cpus"
	// TestSlot: measure in another slot.
	TestSlot Test = "other-slot"
	// TestPowerState: set power state 0.
	TestPowerState Test = "power-state-0"
)

func ev(kind EvidenceKind, source string, value, was float64) Evidence {
	return Evidence{kind, source, &value, &was}
}
func ev1(kind EvidenceKind, source string, value float64) Evidence {
	return Evidence{Kind: kind, Source: source, Value: &value}
}

func find(all []Evidence, kind EvidenceKind) *Evidence {
	for i := range all {
		if all[i].Kind == kind {
			return &all[i]
		}
	}
	return nil
}
