package record

// Codes of warnings. Most follow from what a record holds anyway and are
// computed by package analysis, so that a later version can find them in an old
// record; those marked "recorded" are only known while the run lasts, and bench
// writes them. A record may hold any of them: a computed one replaces a recorded
// one of the same code, phase and place. Values and Words are named with each
// code; all are optional to a reader.
const (
	// About what is measured.

	// WarnNetwork: a server answers, so that no number is a drive's.
	// Words: fstype (the filesystem, or the transport of a drive elsewhere).
	WarnNetwork = "network-filesystem"
	// WarnVirtualDrive: a hypervisor answers for the drive. Words: drive.
	WarnVirtualDrive = "virtual-drive"
	// WarnMemoryDrive: the drive is memory (zram, ramdisk). Words: drive.
	WarnMemoryDrive = "memory-drive"
	// WarnLink: the PCIe link runs below what the drive can do. Words: drive,
	// limit ("port" where the slot can do no more, "link" where it can, ""
	// where it is not known). Values: speed_mts, width, max_speed_mts,
	// max_width, and port_speed_mts, port_width where known.
	WarnLink = "pcie-link-below-drive"
	// WarnLoopCached: a loop device goes through the page cache of the host.
	// Words: device.
	WarnLoopCached = "loop-page-cache"
	// WarnCopyOnWrite: the filesystem checksums and copies, or has a cache of
	// its own, so that its work is part of every number. Words: fstype.
	WarnCopyOnWrite = "copy-on-write"
	// WarnNeighboursUnknown: who else uses the drive could not be found out.
	// Words: reason.
	WarnNeighboursUnknown = "neighbours-unknown"
	// WarnNeighbours: others use the drive meanwhile. Words: names.
	WarnNeighbours = "neighbours"

	// About the plan.

	// WarnFileSmaller: the test file is smaller than wanted, because space is
	// short. Values: size_bytes, wanted_bytes.
	WarnFileSmaller = "file-smaller"
	// WarnSmallFile: the test file is smaller than 1 GiB, so that the cache of
	// the drive itself may hold it. Values: size_bytes.
	WarnSmallFile = "small-file"
	// WarnShortWrites: the writes are so short that an SLC cache probably took
	// them all.
	WarnShortWrites = "short-writes"
	// WarnCPUsHalved: the container got half of the CPUs, because the machine
	// has fewer than eight. Values: cpus, online.
	WarnCPUsHalved = "cpus-halved"
	// WarnNotSeparable: there is no pinned place, so that a loss cannot be
	// split. Words: reason ("all-cpus", "left-out").
	WarnNotSeparable = "not-separable"

	// About what can be seen.

	// WarnNoTemperature: no sensor was found. Words: drive, transport.
	WarnNoTemperature = "no-temperature"
	// WarnCountersOff: the drive's counters are switched off
	// (queue/iostats=0). Words: drive.
	WarnCountersOff = "device-counters-off"
	// WarnNoCounters: the drive's counters could not be read for another
	// reason. Words: drive.
	WarnNoCounters = "no-device-counters"

	// About what happened in passes; Phase and Place are set.

	// WarnCacheAnswered: the drive delivered fewer than nine tenths of the
	// bytes that were read. Values: ratio.
	WarnCacheAnswered = "cache-answered"
	// WarnExtraWrites: the drive wrote over 1.2 times what the test did.
	// Values: ratio.
	WarnExtraWrites = "extra-writes"
	// WarnSpread: the passes of one place differ by more than a tenth.
	// Values: spread.
	WarnSpread = "passes-differ"
	// WarnHeldUp: nativ did not run for a part of the pass, so that what the
	// host saw is of another time. Values: window_ns, elapsed_ns. Pass is set.
	WarnHeldUp = "held-up"
	// WarnStalls: for a second or longer no I/O completed, in the middle of a
	// pass. Values: count, longest_ns. Pass is set.
	WarnStalls = "stalls"
	// WarnPassesMissing: not every planned pass of the place ran to its end.
	// Values: passes, planned.
	WarnPassesMissing = "passes-missing"
	// WarnPassFailed: a pass has no full result. Words: code (a Fail
	// constant), detail. Pass is set.
	WarnPassFailed = "pass-failed"
	// WarnContainerRemade (recorded): the container had ended and was made
	// anew for this pass.
	WarnContainerRemade = "container-remade"
	// WarnCgroupThrottled: the kernel held the place's CPU time back
	// (cpu.max). Values: periods, throttled_ns.
	WarnCgroupThrottled = "cgroup-throttled"
	// WarnOtherLoad: other programs spent more than a tenth of the place's CPU
	// time in user mode. Values: others (that share).
	WarnOtherLoad = "other-cpu-load"
	// WarnToolLimit: the IOPS come within 80 % of what the engine could do on
	// the place's CPUs with I/Os that cost nothing, so that it may be the limit
	// and not the drive. Values: iops, limit (I/Os a second), share.
	WarnToolLimit = "tool-limit"
	// WarnMemoryLimit: the place ran into its memory limit. Values: events.
	WarnMemoryLimit = "memory-limit-reached"
	// WarnOOM: the kernel killed something in the place for lack of memory.
	// Values: kills.
	WarnOOM = "oom-kill"

	// About a record that was imported.

	// WarnImport (recorded): something that a reader of imported numbers must
	// know. Words: what (a Diag constant of package fiojson), and where they
	// are known job and detail.
	WarnImport = "import"
)

// WarningCodes lists every code.
func WarningCodes() []string {
	return []string{
		WarnNetwork, WarnVirtualDrive, WarnMemoryDrive, WarnLink, WarnLoopCached, WarnCopyOnWrite,
		WarnNeighbours, WarnNeighboursUnknown,
		WarnFileSmaller, WarnSmallFile, WarnShortWrites, WarnCPUsHalved, WarnNotSeparable,
		WarnNoTemperature, WarnCountersOff, WarnNoCounters,
		WarnCacheAnswered, WarnExtraWrites, WarnSpread, WarnHeldUp, WarnStalls, WarnPassesMissing, WarnPassFailed, WarnContainerRemade,
		WarnCgroupThrottled, WarnOtherLoad, WarnToolLimit, WarnMemoryLimit, WarnOOM,
		WarnImport,
	}
}
