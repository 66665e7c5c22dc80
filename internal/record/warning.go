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
	// Words: fstype (the filesystem, or the transport of a drive elsewhere), kind
	// (a ServedBy constant, empty in old records).
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
	// WarnThinPool: the first write of a chunk also takes it from the pool, which the
	// prefill does and no pass. Words: pool, zeroing ("yes", "no" or ""). Values:
	// chunk_bytes, taken (the share) where known, and after the prefill first_bps.
	WarnThinPool = "thin-pool"
	// WarnPoolUnknown: how full a thin pool is could not be found out. Words: pool,
	// reason.
	WarnPoolUnknown = "thin-pool-unknown"
	// WarnPoolKept: space that the test file took in a thin pool was not
	// given back when it went. Words: pool, reason (empty where the pool was asked and
	// its usage stayed). Values: kept_bytes where known.
	WarnPoolKept = "thin-pool-kept"
	// WarnRebuilding: an array reads or writes by itself. Words: array, action.
	// Values: done (the share) where known.
	WarnRebuilding = "array-rebuilding"
	// WarnDegraded: an array lacks devices. Words: array. Values: missing.
	WarnDegraded = "array-degraded"
	// WarnLazyInit: ext4 still writes inode tables in the background.
	WarnLazyInit = "ext4-lazy-init"
	// WarnARC: the test file is smaller than four times what the cache of ZFS may
	// have, so that it answers reads. Words: name. Values: arc_bytes, want_bytes.
	WarnARC = "zfs-cache"
	// WarnRecord: a phase uses blocks smaller than those of ZFS, so that each is read
	// as a whole, and written back as a whole. Words: mode ("read", "write"). Values:
	// record_bytes. Phase and Place are set.
	WarnRecord = "below-record"
	// WarnZFSUnknown: how ZFS treats the files is not known. Words: name, reason.
	WarnZFSUnknown = "zfs-unknown"
	// WarnInPlace: the test file is one that btrfs overwrites in place.
	WarnInPlace = "btrfs-in-place"
	// WarnBuffered: the kernel writes through the page cache, although direct I/O was
	// asked for. Words: fstype.
	WarnBuffered = "writes-buffered"
	// WarnProgram: a program answers for the files (FUSE). Words: fstype.
	WarnProgram = "fuse"
	// WarnNeighboursUnknown: who else uses the drive could not be found out.
	// Words: reason.
	WarnNeighboursUnknown = "neighbours-unknown"
	// WarnNeighbours: others use the drive meanwhile. Words: names.
	WarnNeighbours = "neighbours"

	// WarnBlank: some of the blocks that are read look as if they had never been
	// written, and a drive answers for such without reading flash. Words: device.
	// Values: blank, sampled (blocks).
	WarnBlank = "blank-blocks"
	// WarnBlankUnknown: whether the blocks that are read were ever written could
	// not be found out. Words: device.
	WarnBlankUnknown = "blank-blocks-unknown"
	// WarnDeviceRegion: only the first part of a device is used. Values:
	// size_bytes, device_bytes.
	WarnDeviceRegion = "device-region"
	// WarnDeviceOverwritten: with consent everything on the device was written
	// over, and it holds random data. Words: device, serial (that was typed).
	WarnDeviceOverwritten = "device-overwritten"

	// WarnSafeRemove: the storage overwrites volumes after they were removed, which
	// keeps the drive busy. Words: storage.
	WarnSafeRemove = "saferemove"
	// WarnSeparate: host and container have a volume each, which lie apart. Words:
	// storage.
	WarnSeparate = "separate-volumes"
	// WarnNotTrimmed: free space was not given back before a volume was removed.
	// Words: reason.
	WarnNotTrimmed = "volume-not-trimmed"
	// WarnCPUsMovable: Proxmox VE may move the container to other CPUs. Values:
	// vmid.
	WarnCPUsMovable = "cpus-movable"
	// WarnPVEWarned: Proxmox VE warned while it made or started the container.
	// Words: text.
	WarnPVEWarned = "pve-warned"

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

	// WarnOrder: the order of the places is not balanced, so that a drift, by
	// warming up or a cache filling, falls on some more than on others. Words:
	// first, last (places).
	WarnOrder = "order-not-balanced"
	// WarnSinglePass: each place is measured once, so that what is chance cannot
	// be told.
	WarnSinglePass = "single-passes"
	// WarnSameOffsets: all jobs of sequential phases walk the same offsets, so
	// that caches may answer all but the first. Values: jobs.
	WarnSameOffsets = "same-offsets"
	// WarnRewritten: long writes go over a small file again and again, which an
	// SLC cache may hold. Values: size_bytes.
	WarnRewritten = "small-area-rewritten"
	// WarnNoCoolDown: passes follow each other without cooling down, so that each
	// starts as hot as the one before left the drive.
	WarnNoCoolDown = "no-cool-down"

	// WarnWriteLimit: the user's limit of bytes makes the passes that write shorter
	// than the preset's. Values: limit_bytes, pass_bytes (the least of a pass).
	WarnWriteLimit = "write-limit"
	// WarnCapped: the user capped the rate, so that no number is the drive's or a
	// place's own. Values: bytes_per_second.
	WarnCapped = "rate-capped"

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

	// WarnStartedHot: a pass began above the band of the run, because the drive
	// had not cooled down in time. Values: excess_mc (above the band). Pass is set.
	WarnStartedHot = "started-hot"
	// WarnThrottled: the drive slowed itself down for heat, so that the number is
	// a mean of fast and slow. Words: sensor (at the onset, may be empty). Values:
	// from_mc, to_mc (the interval of its reading), lost (the share), after_ns.
	// Pass is set.
	WarnThrottled = "throttled"
	// WarnCacheFull: the SLC cache of the drive was full in the middle of a pass.
	// Values: bytes (written since it was idle), lost. Pass is set.
	WarnCacheFull = "slc-cache-full"
	// WarnSlowed: the speed fell in the middle of a pass for another reason.
	// Words: cause (a CauseKind of package analysis, empty where not known).
	// Values: lost. Pass is set.
	WarnSlowed = "slowed"
	// WarnCeiling: the run ended a pass because the composite temperature reached
	// the ceiling. Values: ceiling_mc. Pass is set.
	WarnCeiling = "temperature-ceiling"
	// WarnSensorStuck: a sensor never moved while others did: it tells nothing.
	// Words: sensor. Values: value_mc.
	WarnSensorStuck = "sensor-stuck"
	// WarnOtherSensor: a sensor read more than CCTEMP while the drive counted no
	// critical minute and raised no warning: it is of another point. Words:
	// sensor. Values: value_mc, critical_mc.
	WarnOtherSensor = "other-sensor"

	// WarnCacheAnswered: the drive delivered fewer than nine tenths of the bytes that
	// were read or, with the word mode "write", took fewer than nine tenths of those
	// that were written. Values: ratio.
	WarnCacheAnswered = "cache-answered"
	// WarnExtraWrites: the drive wrote over 1.2 times what the test did.
	// Values: ratio.
	WarnExtraWrites = "extra-writes"
	// WarnSpread: the passes of one place differ by more than a tenth. Words: trend,
	// "fell" where those that write were fast and then slow, else "".
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
	// WarnVerified: fio read back what it had written to verify it, which is in no
	// number of the result. Values: reads. With the word reads "mixed" they are
	// among those of a phase that reads and writes.
	WarnVerified = "verified"
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
		WarnThinPool, WarnPoolUnknown, WarnPoolKept, WarnRebuilding, WarnDegraded, WarnLazyInit, WarnARC, WarnRecord,
		WarnZFSUnknown, WarnInPlace, WarnBuffered, WarnProgram,
		WarnNeighbours, WarnNeighboursUnknown,
		WarnBlank, WarnBlankUnknown, WarnDeviceRegion, WarnDeviceOverwritten,
		WarnFileSmaller, WarnSmallFile, WarnShortWrites, WarnCPUsHalved, WarnNotSeparable,
		WarnOrder, WarnSinglePass, WarnSameOffsets, WarnRewritten, WarnNoCoolDown, WarnWriteLimit, WarnCapped, WarnStartedHot,
		WarnThrottled, WarnCacheFull, WarnSlowed, WarnCeiling, WarnSensorStuck, WarnOtherSensor,
		WarnNoTemperature, WarnCountersOff, WarnNoCounters,
		WarnCacheAnswered, WarnExtraWrites, WarnSpread, WarnHeldUp, WarnStalls, WarnPassesMissing, WarnPassFailed, WarnContainerRemade,
		WarnCgroupThrottled, WarnOtherLoad, WarnToolLimit, WarnVerified, WarnMemoryLimit, WarnOOM,
		WarnImport,
	}
}
