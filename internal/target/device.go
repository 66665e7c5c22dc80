package target

import (
	"fmt"
	"strings"
)

// A DeviceTicket is the part of a ticket that names a block device.
type DeviceTicket struct {
	// Major and Minor are the device's own numbers (stat's st_rdev).
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
	// DiskSeq tells disks apart that have the same numbers one after the other;
	// 0 where the kernel gives none.
	DiskSeq uint64 `json:"disk_sequence,omitempty"`
	// Bytes is the size of the whole device; Ticket.Size is what may be used of
	// it, from its start.
	Bytes int64 `json:"size_bytes"`
	// Serial is the drive's, "" where it has none.
	Serial string `json:"serial,omitempty"`
	// Consent is the serial number that the user typed so that everything on the
	// drive is destroyed. A ticket that writes is refused unless it is Serial.
	Consent string `json:"consent_serial,omitempty"`
}

// consented reports whether a ticket may write to the device.
func (d *DeviceTicket) consented() bool {
	return d != nil && d.Serial != "" && d.Consent == d.Serial
}

// Reasons for which nothing is written to a device.
const (
	ReasonPartition  = "partition"   // a part of a drive; Words: the drive
	ReasonNoDrive    = "no-drive"    // made of other devices; Words: the kind
	ReasonNoSerial   = "no-serial"   // so that no consent can name it
	ReasonSerial     = "serial"      // what was typed is another; Words: that
	ReasonChanged    = "changed"     // since the plan; Words: what, was, is
	ReasonReadOnly   = "read-only"   //
	ReasonNoMedium   = "no-medium"   //
	ReasonZoned      = "zoned"       // must be written in order; Words: the model
	ReasonSmall      = "too-small"   // Words: bytes needed, bytes there
	ReasonSystem     = "system"      // carries the running system; Words: mount points
	ReasonMounted    = "mounted"     // Words: mount points
	ReasonSwap       = "swap"        // in use; Words: paths
	ReasonHolder     = "holder"      // a device lies on it; Words: these
	ReasonBcache     = "bcache"      // registered; Words: the devices
	ReasonBtrfs      = "btrfs"       // in a mounted btrfs; Words: its UUID
	ReasonBusy       = "busy"        // somebody holds it exclusively
	ReasonPartitions = "partitions"  // the kernel knows some; Words: these
	ReasonSignature  = "signature"   // Words: what is there
	ReasonFstab      = "fstab"       // Words: the file, the entries
	ReasonPVE        = "pve-storage" // Words: the storages
	ReasonUnknown    = "unknown"     // something could not be looked at; Words: why
)

// A Reason is one of those for which nothing is written to a device.
type Reason struct {
	Code  string
	Words []string
}

// String is the reason in English, a sentence without its end.
func (r Reason) String() string {
	all := strings.Join(r.Words, ", ")
	word := func(i int) string {
		if i < len(r.Words) {
			return r.Words[i]
		}
		return "?"
	}
	switch r.Code {
	case ReasonPartition:
		return "it is a partition of " + all + ", and the serial number is that of the whole drive: only whole drives can be given up"
	case ReasonNoDrive:
		return "it is no drive but a device of kind " + all + ", which lies on others"
	case ReasonNoSerial:
		return "it has no serial number, so that consent cannot name it"
	case ReasonSerial:
		return "its serial number is not " + word(0)
	case ReasonChanged:
		return fmt.Sprintf("it is not the device of the plan any more: %s was %s and is %s", word(0), word(1), word(2))
	case ReasonReadOnly:
		return "it is set read-only"
	case ReasonNoMedium:
		return "there is no medium in it"
	case ReasonZoned:
		return "it is zoned (" + all + ") and takes no writes in random order"
	case ReasonSmall:
		return fmt.Sprintf("it has %s bytes, and %s are needed", word(1), word(0))
	case ReasonSystem:
		return "the running system lies on it: " + all
	case ReasonMounted:
		return "it is mounted: " + all
	case ReasonSwap:
		return "it is used for swapping: " + all
	case ReasonHolder:
		return "other devices lie on it: " + all
	case ReasonBcache:
		return "bcache has registered " + all
	case ReasonBtrfs:
		return "it is part of the btrfs " + all + ", which is mounted"
	case ReasonBusy:
		return "another program or the kernel holds it exclusively"
	case ReasonPartitions:
		return "it has partitions: " + all
	case ReasonSignature:
		return "there is something on it: " + all
	case ReasonFstab:
		return word(0) + " names it: " + strings.Join(r.Words[min(1, len(r.Words)):], ", ")
	case ReasonPVE:
		return "it belongs to storage of Proxmox VE: " + all
	}
	return "it could not be made sure that it is free: " + all
}

// A DeviceRefusal is the gate's no to writing to a device, with every reason that
// there is. Nothing was written.
type DeviceRefusal struct {
	Path    string
	Reasons []Reason
}

func (e *DeviceRefusal) Error() string {
	if len(e.Reasons) == 1 {
		return fmt.Sprintf("write to %s: %s", e.Path, e.Reasons[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "write to %s: there are %d reasons not to:", e.Path, len(e.Reasons))
	for _, r := range e.Reasons {
		fmt.Fprintf(&b, "\n  - %s", r)
	}
	return b.String()
}

// Has reports whether one of the reasons is code.
func (e *DeviceRefusal) Has(code string) bool {
	for _, r := range e.Reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

// Next is what to do instead.
func (e *DeviceRefusal) Next() string {
	switch {
	case e.Has(ReasonSystem):
		return "Measure it through a file instead: nativ bench --dir DIR; or only read it: --read-only"
	case e.Has(ReasonNoSerial), e.Has(ReasonPartition), e.Has(ReasonNoDrive):
		return "Only read it (--read-only), or measure a file on it: nativ bench --dir DIR"
	case len(e.Reasons) == 1 && e.Has(ReasonSerial):
		return "Its serial number stands on its label, and in: nativ info"
	case e.Has(ReasonSignature), e.Has(ReasonPartitions):
		return "If nobody needs what is on it, take it out of use and run wipefs --all on its partitions and then on the drive; nativ removes nothing that it did not make"
	}
	return "Only read it: --read-only"
}
