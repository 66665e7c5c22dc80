package record

import "time"

// A Host is the machine that was measured.
type Host struct {
	OS           string  `json:"os"`      // pretty name of the distribution
	Kernel       string  `json:"kernel"`  // uname -r
	Machine      string  `json:"machine"` // uname -m
	PVE          *string `json:"pve,omitempty"`
	CPUModel     string  `json:"cpu_model,omitempty"`
	CPUs         []CPU   `json:"cpus"`
	MemoryBytes  int64   `json:"memory_bytes"`
	Board        *string `json:"board,omitempty"`
	Virtualised  *string `json:"virtualised,omitempty"` // hypervisor, where one is known
	CgroupLayout string  `json:"cgroup_layout"`         // "v2", "mixed" or "v1"
	// IOUringDisabled is kernel.io_uring_disabled; nil before Linux 6.6.
	IOUringDisabled *int    `json:"io_uring_disabled,omitempty"`
	Governor        *string `json:"cpu_governor,omitempty"`
	// Cores are the CPUs by type, performance cores first.
	Cores []Cores `json:"cores,omitempty"`
	// MemoryModules are those in the slots, from SMBIOS.
	MemoryModules []MemoryModule `json:"memory_modules,omitempty"`
	// BIOS is its maker, version and date.
	BIOS *string `json:"bios,omitempty"`
	// Missing says why something is not known, by what was asked
	// ("memory-modules", "cpu-frequency").
	Missing map[string]string `json:"missing,omitempty"`
}

// Cores are the CPUs of one type that the process may use.
type Cores struct {
	// Type is that of CPU.
	Type string `json:"type,omitempty"`
	// Cores is nil where the kernel does not tell which threads share one.
	Cores   *int `json:"cores,omitempty"`
	Threads int  `json:"threads"`
	// MinHz and MaxHz are what the hardware can do (cpuinfo_min_freq,
	// cpuinfo_max_freq), the lowest and the highest of all; nil without cpufreq.
	MinHz *int64 `json:"min_hz,omitempty"`
	MaxHz *int64 `json:"max_hz,omitempty"`
	// LimitHz is what is allowed (scaling_max_freq) where that is less than MaxHz
	// on any of them.
	LimitHz  *int64  `json:"limit_hz,omitempty"`
	Governor *string `json:"governor,omitempty"`
}

// A MemoryModule is an SMBIOS memory device (type 17) that is not empty.
type MemoryModule struct {
	SizeBytes int64  `json:"size_bytes"`
	Type      string `json:"type,omitempty"` // "DDR5"
	// SpeedMTs is what it runs at, RatedMTs what it could; nil where unknown.
	SpeedMTs *int `json:"speed_mts,omitempty"`
	RatedMTs *int `json:"rated_mts,omitempty"`
}

// A Target is where the test file lies, down to the drives.
type Target struct {
	Dir string `json:"dir"`
	// FSType is the kernel's name, for example "ext4"; Source and Options
	// come from the mount table.
	FSType     string `json:"fstype"`
	Source     string `json:"source"`
	MountPoint string `json:"mount_point"`
	Options    string `json:"mount_options"`
	// Network is true where a server answers, so that no number is a drive's.
	Network bool `json:"network"`
	// DevMajor and DevMinor are those of the filesystem (stat's st_dev).
	DevMajor uint32 `json:"dev_major"`
	DevMinor uint32 `json:"dev_minor"`
	// TotalBytes, FreeBytes: the filesystem's size and what an ordinary user
	// may still take, before the run.
	TotalBytes int64 `json:"total_bytes"`
	FreeBytes  int64 `json:"free_bytes"`
	// Stack is the way from the filesystem's block device down to the drives,
	// in breadth-first order; empty where the kernel shows none.
	Stack []Layer `json:"stack,omitempty"`
	// Drives are the physical ends of the stack.
	Drives []Drive `json:"drives,omitempty"`
	// Neighbours use the same drives.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	// NeighboursUnknown says why neighbours could not be looked for.
	NeighboursUnknown string `json:"neighbours_unknown,omitempty"`
	// Due is what the machine does to its drives by itself in the planned time;
	// DueUnknown says why some of it may be missing.
	Due        []Due  `json:"due,omitempty"`
	DueUnknown string `json:"due_unknown,omitempty"`
	File       *File  `json:"file,omitempty"`
	// UsedBytes is what files and the filesystem itself take, before the run. It
	// and FreeBytes need not add up to TotalBytes: some is kept for root.
	UsedBytes *int64 `json:"used_bytes,omitempty"`
	// Trim is nil where no block device is known.
	Trim *Trim `json:"trim,omitempty"`
	// Device is set where a block device itself is measured; there is then no
	// filesystem, and Dir is the path of its node.
	Device *BlockDevice `json:"device,omitempty"`
	// Volume is set where the file lies on a volume of a Proxmox VE container.
	// Dir is then no directory of the host: the storage, and once the volume is
	// there its ID.
	Volume *Volume `json:"volume,omitempty"`
	// Storage is what between file and drives changes what a number means; nil
	// where nothing does.
	Storage *Storage `json:"storage,omitempty"`
}

// A Volume is one of a Proxmox VE storage, with the container that has it.
type Volume struct {
	Storage     string `json:"storage"`
	StorageType string `json:"storage_type"` // "lvmthin", "dir" …
	// ID is "" before the volume is made.
	ID string `json:"id,omitempty"`
	// SizeBytes is its size; 0 where Proxmox VE does not say.
	SizeBytes int64 `json:"size_bytes,omitempty"`
	// VMID is that of the container, 0 before one is made.
	VMID int `json:"vmid,omitempty"`
	// Inside is where the container sees it.
	Inside string `json:"inside"`
	// Made is true where nativ makes container and volume and removes them.
	Made bool `json:"made"`
	// SafeRemove: the storage overwrites a volume after it was removed, which
	// keeps the drive busy for a while.
	SafeRemove bool `json:"saferemove,omitempty"`
	// Separate: the host has a volume of its own, made in the same way. Twin is
	// its ID, TwinFile the file on it.
	Separate bool   `json:"separate,omitempty"`
	Twin     string `json:"twin,omitempty"`
	TwinFile *File  `json:"twin_file,omitempty"`
	// NotTrimmed says why the free space was not given back to storage and drive
	// before the volume went; "" where it was, or nothing was tried.
	NotTrimmed string `json:"not_trimmed,omitempty"`
}

// A BlockDevice is a device that is measured itself.
type BlockDevice struct {
	Name  string `json:"name"` // kernel name
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
	// DiskSeq is another one for each disk that ever had the numbers since the
	// boot; 0 where the kernel gives none (before 5.15).
	DiskSeq   uint64 `json:"disk_sequence,omitempty"`
	SizeBytes int64  `json:"size_bytes"`
	// Consent is the serial number of the drive that the user typed so that
	// everything on it is destroyed; "" where it was only read.
	Consent string `json:"consent_serial,omitempty"`
	// LeftOut are the phases that write, which were left out because it was only
	// read.
	LeftOut []string `json:"left_out,omitempty"`
	// Sampled is how many blocks of the part that is read were looked at before
	// the run, and Blank how many of these held nothing but zeros or ones, as
	// blocks do that were never written; nil where they could not be read, or
	// the run itself writes all of it first.
	Sampled *int64 `json:"sampled_blocks,omitempty"`
	Blank   *int64 `json:"blank_blocks,omitempty"`
}

// Trim is whether the drive gets to know what is free, before the run: a drive
// that believes itself full writes more slowly.
type Trim struct {
	// Passed is whether discards reach the drives through every layer; nil where
	// a layer does not tell, as a loop file or a thin pool. StoppedAt are the layers that do not pass them on.
	Passed    *bool    `json:"passed,omitempty"`
	StoppedAt []string `json:"stopped_at,omitempty"`
	// Online is whether the filesystem discards by itself as files go (mount
	// option discard); nil where its options do not tell.
	Online *bool `json:"online,omitempty"`
	// TimerRan is when fstrim.timer last started fstrim; nil where it never did
	// or nobody can tell. TimerCovers is whether fstrim then looks at this
	// filesystem: it is in /etc/fstab, or no other is.
	TimerRan    *time.Time `json:"fstrim_timer_ran,omitempty"`
	TimerCovers *bool      `json:"fstrim_timer_covers,omitempty"`
}

// A Layer is one block device of a stack.
type Layer struct {
	Name string `json:"name"` // kernel name, for example "dm-3"
	// Kind is "partition", "lvm", "crypt", "multipath", "md", "loop",
	// "bcache", "zvol", "dm" or "disk".
	Kind  string `json:"kind"`
	Title string `json:"title,omitempty"` // dm name, backing file
	// Below are the kernel names of the devices under it.
	Below []string `json:"below,omitempty"`
	// DirectIO is for loop devices: whether they bypass the host page cache.
	DirectIO *bool `json:"dio,omitempty"`
	// DiscardGranularity and DiscardMax are those of its queue, in bytes; a
	// DiscardMax of 0 means that it takes no discards. A partition has its disk's.
	DiscardGranularity *int64 `json:"discard_granularity_bytes,omitempty"`
	DiscardMax         *int64 `json:"discard_max_bytes,omitempty"`
}

// A Drive is a physical (or, in a virtual machine, seemingly physical) drive.
type Drive struct {
	Name string `json:"name"` // kernel name of the disk, for example "nvme0n1"
	// Transport is "nvme", "sata", "usb", "virtio", "scsi", "mmc", "pmem",
	// "xen", "memory" (zram, ramdisk) or ""; where another machine answers
	// (Target.Network is then true) "nvme-tcp" and the like, "iscsi", "nbd",
	// "rbd" or "drbd".
	Transport  string  `json:"transport,omitempty"`
	Model      *string `json:"model,omitempty"`
	Firmware   *string `json:"firmware,omitempty"`
	Serial     *string `json:"serial,omitempty"`
	SizeBytes  int64   `json:"size_bytes"`
	Rotational *bool   `json:"rotational,omitempty"`
	// Controller is the NVMe controller, for example "nvme0".
	Controller       *string `json:"controller,omitempty"`
	Link             *Link   `json:"pcie_link,omitempty"`
	LogicalBlock     int64   `json:"logical_block_bytes"`
	Scheduler        *string `json:"scheduler,omitempty"`
	VolatileCache    *bool   `json:"write_cache,omitempty"`
	IOStats          *bool   `json:"iostats,omitempty"`
	TemperatureFound bool    `json:"temperature_source"`
	// PCIAddress is that of the controller, PortAddress that of its upstream
	// port; nil where there is none.
	PCIAddress  *string `json:"pci_address,omitempty"`
	PortAddress *string `json:"port_address,omitempty"`
	// NVMe is what an NVMe controller says of itself; nil for other drives.
	NVMe *NVMe `json:"nvme,omitempty"`
}

// A Link is a PCIe link. Speeds are in MT/s (8 GT/s = 8000).
type Link struct {
	SpeedMTs    int `json:"speed_mts"`
	Width       int `json:"width"`
	MaxSpeedMTs int `json:"max_speed_mts"` // of the drive
	MaxWidth    int `json:"max_width"`
	// PortMaxSpeedMTs and PortMaxWidth are the upstream port's; nil where
	// there is none to see.
	PortMaxSpeedMTs *int `json:"port_max_speed_mts,omitempty"`
	PortMaxWidth    *int `json:"port_max_width,omitempty"`
}

// A Due is a trim, a check, a scrub, a backup or an index of files that is scheduled.
type Due struct {
	// Kind is "trim", "check", "scrub", "backup" or "index"; Name that of the unit,
	// the crontab or the backup job.
	Kind string    `json:"kind"`
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

// A Neighbour is a guest or a job that uses a drive of the target.
type Neighbour struct {
	// Kind is "vm", "container" or "job".
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// A File is the test file as both sides saw it.
type File struct {
	Name     string `json:"name"`
	Ino      uint64 `json:"ino"`
	DevMajor uint32 `json:"dev_major"`
	DevMinor uint32 `json:"dev_minor"`
	Size     int64  `json:"size_bytes"`
	// MemAlign and OffsetAlign are what direct I/O needs here, in bytes.
	MemAlign    int64 `json:"dio_mem_align_bytes"`
	OffsetAlign int64 `json:"dio_offset_align_bytes"`
	// NoCOW says that the file was made without checksums and copies on btrfs, as
	// "chattr +C" does, so that direct I/O is direct.
	NoCOW bool `json:"nocow,omitempty"`
}

// A Place is where a phase runs, as it was set up and read back.
type Place struct {
	Name string `json:"name"`
	CPUs []int  `json:"cpus"`
	// MemoryBytes is the limit read back; nil where there is none.
	MemoryBytes *int64 `json:"memory_bytes,omitempty"`
	// Cgroup is the path below the hierarchy's root; empty where the place
	// has none of its own.
	Cgroup      string   `json:"cgroup,omitempty"`
	Controllers []string `json:"controllers,omitempty"`
	// Container is set for containers only.
	Container *Container `json:"container,omitempty"`
	Worker    *Worker    `json:"worker,omitempty"`
}

// A Container is how a container was made.
type Container struct {
	Runtime    string `json:"runtime"` // "lxc 6.0.4"
	Privileged bool   `json:"privileged"`
	IDMap      string `json:"idmap,omitempty"`
	// AppArmor is the profile that really ran; empty where the kernel has no
	// AppArmor.
	AppArmor string `json:"apparmor"`
	Seccomp  string `json:"seccomp"`
	// PVE is set for a container of Proxmox VE.
	PVE *PVEContainer `json:"pve,omitempty"`
}

// A PVEContainer is what Proxmox VE says of a container.
type PVEContainer struct {
	VMID int `json:"vmid"`
	// Made is true where nativ made it and removed it; else it was there before.
	Made bool `json:"made"`
	// Hostname is that of a container that nativ made.
	Hostname string `json:"hostname,omitempty"`
	// Template is the volume ID of what it was made from; OwnTemplate says that
	// nativ built that.
	Template    string `json:"template,omitempty"`
	OwnTemplate bool   `json:"own_template,omitempty"`
	OSType      string `json:"ostype,omitempty"`
	// Volumes are the IDs of its volumes.
	Volumes []string `json:"volumes,omitempty"`
	// Config is its configuration as Proxmox VE showed it, as "key: value"; of a
	// container that was there before only what can matter to a measurement.
	Config []string `json:"config,omitempty"`
	// Cores is the number of CPUs that the configuration gives it, nil for all.
	// Where CPUsPinned is false, Proxmox VE draws that many at random from
	// CPUsFrom at each start, and may move them while it runs; nativ pins the
	// containers that it makes.
	Cores      *int  `json:"cores,omitempty"`
	CPUsFrom   []int `json:"cpus_from,omitempty"`
	CPUsPinned bool  `json:"cpus_pinned"`
	// Warned is what Proxmox VE warned of while it made and started it.
	Warned []string `json:"warned,omitempty"`
}

// A Worker is what the worker says of the place from inside.
type Worker struct {
	PID          int    `json:"pid"`
	PIDNamespace string `json:"pid_ns"`
	UserNS       string `json:"user_ns"`
	UID          int    `json:"uid"`
	// CPUs that it may run on.
	CPUs       []int `json:"cpus"`
	GOMAXPROCS int   `json:"gomaxprocs"`
	// MemlockBytes is RLIMIT_MEMLOCK; nil is unlimited.
	MemlockBytes *int64 `json:"memlock_bytes,omitempty"`
	Seccomp      string `json:"seccomp,omitempty"`
	AppArmor     string `json:"apparmor,omitempty"`
	Engine       Engine `json:"engine"`
}

// An Engine is the engine as it ran: what the kernel gave it.
type Engine struct {
	Name string `json:"name"` // "io_uring"
	// Version is that of another tool that does the I/O, for example "3.33"
	// of fio; "" where it is nativ itself.
	Version string `json:"version,omitempty"`
	// Setup lists the io_uring setup flags in use, in the kernel's spelling.
	Setup             []string `json:"setup,omitempty"`
	RegisteredFiles   bool     `json:"registered_files"`
	RegisteredRing    bool     `json:"registered_ring"`
	RegisteredBuffers bool     `json:"registered_buffers"`
}
