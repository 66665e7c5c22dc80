package record

// A Storage is what lies between a file and the drives and changes what a number
// means, before the run. A part is nil or empty where there is none.
type Storage struct {
	Pools  []ThinPool `json:"thin_pools,omitempty"`
	Arrays []Array    `json:"arrays,omitempty"`
	Crypts []Crypt    `json:"crypts,omitempty"`
	ZFS    *ZFS       `json:"zfs,omitempty"`
	Btrfs  *Btrfs     `json:"btrfs,omitempty"`
	// LazyInit says, for ext4, whether the kernel still writes inode tables of it in
	// the background (ext4lazyinit), as it does after mkfs.
	LazyInit *bool `json:"ext4_lazy_init,omitempty"`
	// Served is who answers for the files instead of the kernel with a drive: one of
	// the Served constants, "" where nobody does.
	Served string `json:"served_by,omitempty"`
	// GivenBack is how the space of the test file went back to a thin pool; nil where
	// it lies in none, or the run did not get that far.
	GivenBack *GivenBack `json:"given_back,omitempty"`
}

// Who answers for files.
const (
	ServedByServer  = "server"  // NFS, CIFS and the like, and block devices over the network
	ServedByPool    = "pool"    // many machines: Ceph, Gluster
	ServedByHost    = "host"    // of a virtual machine: 9p, virtiofs
	ServedByProgram = "program" // of this machine, by FUSE
)

// A ThinPool is a pool of the device mapper whose volumes take space as they are
// written. What only root may ask is nil for others, and Unknown says why.
type ThinPool struct {
	Device string `json:"device"`         // kernel name, a layer of the stack
	Name   string `json:"name,omitempty"` // "pve-data", as the device mapper has it
	// ChunkBytes is what a volume takes at once.
	ChunkBytes *int64 `json:"chunk_bytes,omitempty"`
	// Zeroing says whether a chunk is filled with zeros before its first write.
	Zeroing *bool `json:"zeroing,omitempty"`
	// The space for data and for the pool's own tables, and what of it is taken.
	DataBytes     *int64 `json:"data_bytes,omitempty"`
	DataUsed      *int64 `json:"data_used_bytes,omitempty"`
	MetadataBytes *int64 `json:"metadata_bytes,omitempty"`
	MetadataUsed  *int64 `json:"metadata_used_bytes,omitempty"`
	// Discards says whether the pool takes them, Passdown whether it gives them on
	// to the drive.
	Discards *bool `json:"discards,omitempty"`
	Passdown *bool `json:"discard_passdown,omitempty"`
	// State is "rw"; "ro", "out_of_data_space" or "fail" where nothing can be
	// written any more.
	State   string `json:"state,omitempty"`
	Unknown string `json:"unknown,omitempty"`
}

// An Array is made of several devices by the kernel's md, or by LVM with it.
type Array struct {
	Device   string `json:"device"`
	Level    string `json:"level,omitempty"` // "raid1"
	Devices  *int64 `json:"devices,omitempty"`
	Degraded *int64 `json:"degraded,omitempty"` // how many are missing
	State    string `json:"state,omitempty"`    // "clean"
	// Action is what it does by itself: "resync", "recover", "check", "repair",
	// "reshape"; "idle" where nothing.
	Action string `json:"action,omitempty"`
	// Done is the share of that, from 0 to 1.
	Done *float64 `json:"done,omitempty"`
}

// A Crypt is an encrypted device.
type Crypt struct {
	Device string `json:"device"`
	Format string `json:"format,omitempty"` // "LUKS2"
}

// A ZFS is a dataset or a volume of ZFS. What was not said is nil.
type ZFS struct {
	Name    string `json:"name"` // of the dataset or volume, with its pool
	Volume  bool   `json:"volume,omitempty"`
	Version string `json:"version,omitempty"` // of the module: "2.3.3-pve1"
	// RecordBytes is recordsize, or volblocksize of a volume. The others are
	// properties as "zfs get" has them.
	RecordBytes  *int64 `json:"record_bytes,omitempty"`
	Compression  string `json:"compression,omitempty"`
	PrimaryCache string `json:"primarycache,omitempty"`
	Direct       string `json:"direct,omitempty"`
	Sync         string `json:"sync,omitempty"`
	LogBias      string `json:"logbias,omitempty"`
	// ARCMax is the most that the cache may have, ARCBytes what it has.
	ARCMax   *int64 `json:"arc_max_bytes,omitempty"`
	ARCBytes *int64 `json:"arc_bytes,omitempty"`
	Unknown  string `json:"unknown,omitempty"` // why properties are missing
}

// A Btrfs is how a btrfs filesystem treats new files.
type Btrfs struct {
	// Checksums says whether data has them, and is not overwritten in place.
	Checksums bool `json:"checksums"`
	// Buffered says whether the kernel then writes through the page cache even where
	// direct I/O was asked for.
	Buffered    bool   `json:"buffered"`
	Compression string `json:"compression,omitempty"`
}

// Taken is the share of a pool's space for data that is taken, or of its tables
// where that is more; false where neither is known.
func (p *ThinPool) Taken() (share float64, ok bool) {
	for _, of := range [][2]*int64{{p.DataUsed, p.DataBytes}, {p.MetadataUsed, p.MetadataBytes}} {
		if of[0] != nil && of[1] != nil && *of[1] > 0 {
			share, ok = max(share, float64(*of[0])/float64(*of[1])), true
		}
	}
	return share, ok
}

// Rebuilding reports whether the array reads or writes by itself.
func (a *Array) Rebuilding() bool {
	switch a.Action {
	case "", "idle", "frozen":
		return false
	}
	return true
}

// An Effect is what one layer between files and flash does to a number.
type Effect struct {
	// Target is the directory or device that it is about.
	Target string `json:"target"`
	// Layer is a kernel name, or the type of the filesystem.
	Layer string `json:"layer"`
	// Code is one of the Effect constants; Words and Values are named with each.
	Code   string             `json:"code"`
	Words  map[string]string  `json:"words,omitempty"`
	Values map[string]float64 `json:"values,omitempty"`
}

// Effects of filesystems.
const (
	// EffectDirect: direct I/O goes through to the device below.
	EffectDirect = "direct"
	// EffectLazyInit: ext4 writes inode tables in the background.
	EffectLazyInit = "ext4-lazy-init"
	// EffectInPlace: btrfs would write by way of the page cache, so that nativ makes
	// its file one that is overwritten in place.
	EffectInPlace = "btrfs-in-place"
	// EffectCopies: it checksums and copies. Words: fstype.
	EffectCopies = "copies"
	// EffectZFS: Words: version, direct, primarycache, compression, caches ("yes"
	// where its cache may answer reads). Values: record_bytes, arc_bytes.
	EffectZFS = "zfs"
	// EffectServed: Words: by (a ServedBy constant), what.
	EffectServed = "served"
)

// Effects of block devices.
const (
	EffectPartition = "partition"
	EffectVolume    = "volume" // of LVM, or another mapping of the device mapper
	// EffectThinPool: Words: pool, zeroing ("yes", "no", ""), reason (why nothing is
	// known). Values: chunk_bytes, data, metadata (shares).
	EffectThinPool = "thin-pool"
	// EffectArray: Words: level, action. Values: devices, degraded, done.
	EffectArray = "array"
	// EffectCrypt: Words: format.
	EffectCrypt = "crypt"
	// EffectLoopDirect and EffectLoopCached: a file as a device. Words: file.
	EffectLoopDirect = "loop-direct"
	EffectLoopCached = "loop-cached"
	EffectBcache     = "bcache"
	EffectMultipath  = "multipath"
	// EffectDrive: a drive; EffectVirtual: one for which a hypervisor answers. Words:
	// controller. Values: speed_mts, width of its PCIe link.
	EffectDrive   = "drive"
	EffectVirtual = "virtual"
	// EffectMemory: memory answers; EffectRemote: another machine does. Words:
	// transport.
	EffectMemory = "memory"
	EffectRemote = "remote"
)

// EffectCodes lists every code.
func EffectCodes() []string {
	return []string{
		EffectDirect, EffectLazyInit, EffectInPlace, EffectCopies, EffectZFS, EffectServed,
		EffectPartition, EffectVolume, EffectThinPool, EffectArray, EffectCrypt, EffectLoopDirect, EffectLoopCached,
		EffectBcache, EffectMultipath, EffectDrive, EffectVirtual, EffectMemory, EffectRemote,
	}
}

// A GivenBack is how the space of the test file went back to a thin pool before the
// file was removed.
type GivenBack struct {
	Pool string `json:"pool"`
	// TrimmedBytes is what the filesystem says that it discarded.
	TrimmedBytes int64 `json:"trimmed_bytes"`
	// UsedBefore and UsedAfter are what of the pool was taken right before and
	// after; nil where it could not be asked.
	UsedBefore *int64 `json:"used_before_bytes,omitempty"`
	UsedAfter  *int64 `json:"used_after_bytes,omitempty"`
	// Failed says why it did not go back.
	Failed string `json:"failed,omitempty"`
}
