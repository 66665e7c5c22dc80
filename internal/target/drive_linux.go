package target

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// Transports; see record.Drive.
const (
	transportNVMe   = "nvme"
	transportVirtio = "virtio"
	transportSATA   = "sata"
	transportUSB    = "usb"
	transportISCSI  = "iscsi"
	transportSCSI   = "scsi"
	transportMMC    = "mmc"
	transportMemory = "memory"
	transportPMEM   = "pmem"
	transportXen    = "xen"
	transportNBD    = "nbd"
	transportRBD    = "rbd"
	transportDRBD   = "drbd"
)

// remote reports whether what answers is another machine.
func remote(transport string) bool {
	switch transport {
	case transportISCSI, transportNBD, transportRBD, transportDRBD:
		return true
	}
	return strings.HasPrefix(transport, transportNVMe+"-") // over fabrics
}

// readDrive reads what sysfs says of the disk with the kernel name.
func readDrive(sys, name string) record.Drive {
	d := record.Drive{Name: name}
	dir, err := filepath.EvalSymlinks(filepath.Join(sys, "class/block", name))
	if err != nil {
		return d
	}
	d.Transport = transport(name, dir)
	if n, ok := readInt(dir, "size"); ok {
		d.SizeBytes = n * 512 // always in units of 512 bytes (genhd.c, part_size_show)
	}
	d.LogicalBlock, _ = readInt(dir, "queue/logical_block_size")
	d.Scheduler = activeScheduler(readString(dir, "queue/scheduler"))
	d.IOStats = readBool(dir, "queue/iostats")
	switch readString(dir, "queue/write_cache") {
	case "write back":
		d.VolatileCache = new(true)
	case "write through":
		d.VolatileCache = new(false)
	}
	// virtio-blk has no way to tell, and the kernel then says 1.
	if d.Transport != transportMemory && !strings.HasPrefix(name, "vd") {
		d.Rotational = readBool(dir, "queue/rotational")
	}
	if d.Transport == transportNVMe {
		readNVMe(&d, dir)
	} else {
		readOther(&d, dir)
	}
	return d
}

// transport tells how a disk is attached, by its name where only one driver
// gives it, else by the devices above it in sysfs.
func transport(name, dir string) string {
	switch strings.TrimRight(name, "0123456789") {
	case "zram", "ram", "nullb":
		return transportMemory
	case "pmem":
		return transportPMEM
	case "mmcblk":
		return transportMMC
	case "nbd":
		return transportNBD
	case "rbd":
		return transportRBD
	case "drbd":
		return transportDRBD
	}
	switch {
	case strings.HasPrefix(name, "nvme"):
		return transportNVMe
	case strings.HasPrefix(name, "xvd"):
		return transportXen
	}
	for _, t := range []struct {
		parent *regexp.Regexp
		is     string
	}{
		{usbParent, transportUSB}, // before ata: bridges show as SCSI
		{ataParent, transportSATA},
		{iscsiParent, transportISCSI},
		{virtioParent, transportVirtio}, // virtio-blk and virtio-scsi
		{scsiParent, transportSCSI},
	} {
		if t.parent.MatchString(dir) {
			return t.is
		}
	}
	return ""
}

var (
	usbParent    = regexp.MustCompile(`/usb\d+/`)
	ataParent    = regexp.MustCompile(`/ata\d+/`)
	iscsiParent  = regexp.MustCompile(`/session\d+/`)
	virtioParent = regexp.MustCompile(`/virtio\d+/`)
	scsiParent   = regexp.MustCompile(`/host\d+/`)
)

// activeScheduler is the one in brackets: "[none] mq-deadline".
func activeScheduler(s string) *string {
	_, s, _ = strings.Cut(s, "[")
	if name, _, ok := strings.Cut(s, "]"); ok && name != "" {
		return &name
	}
	return nil
}

// readNVMe reads the controller of a namespace. With native multipath the
// namespace belongs to the subsystem, which has a model but neither a link nor
// a sensor: those are its controllers'.
func readNVMe(d *record.Drive, dir string) {
	ctrl := controllerOf(dir)
	from := filepath.Join(dir, "device") // controller, or subsystem
	d.Model, d.Serial, d.Firmware = readWord(from, "model"), readWord(from, "serial"), readWord(from, "firmware_rev")
	if ctrl == "" {
		return
	}
	d.Controller = new(filepath.Base(ctrl))
	if t := readString(ctrl, "transport"); t != "" && t != "pcie" {
		d.Transport = transportNVMe + "-" + t
	}
	d.Link = readLink(filepath.Join(ctrl, "device"))
	d.PCIAddress, d.PortAddress = pciAddresses(filepath.Join(ctrl, "device"))
	// The hwmon lies below the controller since Linux 5.12 and in stable
	// kernels from 5.10.150, below the PCI device before. Reading it would
	// cost an admin command; that it is there is enough.
	d.TemperatureFound = anyFile(ctrl, "hwmon*/temp1_input", "device/hwmon/hwmon*/temp1_input", "hwmon/hwmon*/temp1_input")
}

// controllerOf returns the sysfs directory of the namespace's controller: of
// several paths the first that is live.
func controllerOf(dir string) string {
	dev, err := filepath.EvalSymlinks(filepath.Join(dir, "device"))
	if err != nil {
		return ""
	}
	if controllerName.MatchString(filepath.Base(dev)) {
		return dev
	}
	var all []string
	entries, _ := os.ReadDir(dev)
	for _, e := range entries {
		if controllerName.MatchString(e.Name()) {
			all = append(all, e.Name())
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) }) // nvme2 before nvme10; ReadDir sorts the rest
	best := ""
	for _, name := range all {
		ctrl, err := filepath.EvalSymlinks(filepath.Join(dev, name))
		if err != nil {
			continue
		}
		if readString(ctrl, "state") == "live" {
			return ctrl
		}
		if best == "" {
			best = ctrl
		}
	}
	return best
}

var controllerName = regexp.MustCompile(`^nvme\d+$`)

// pciAddresses returns the addresses of the PCI device whose sysfs directory is
// dev, and of the port that it hangs on; nil where there is none. A device of a
// virtual machine may hang on the host bridge itself, which is no port.
func pciAddresses(dev string) (device, port *string) {
	dev, err := filepath.EvalSymlinks(dev)
	if err != nil {
		return nil, nil
	}
	if s := filepath.Base(dev); pciAddress.MatchString(s) {
		device = &s
	}
	if s := filepath.Base(filepath.Dir(dev)); device != nil && pciAddress.MatchString(s) {
		port = &s
	}
	return device, port
}

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// readLink reads the PCIe link of the device whose sysfs directory is dev; nil
// where it has none or, as in a virtual machine, does not say all of it.
func readLink(dev string) *record.Link {
	dev, err := filepath.EvalSymlinks(dev)
	if err != nil {
		return nil
	}
	var l record.Link
	var ok [4]bool
	l.SpeedMTs, ok[0] = readSpeed(dev, "current_link_speed")
	l.MaxSpeedMTs, ok[1] = readSpeed(dev, "max_link_speed")
	l.Width, ok[2] = readWidth(dev, "current_link_width")
	l.MaxWidth, ok[3] = readWidth(dev, "max_link_width")
	if ok != [4]bool{true, true, true, true} {
		return nil
	}
	// The parent in sysfs is the port that the device hangs on: the other end
	// of the link, which may be the one that cannot do more.
	if speed, ok := readSpeed(filepath.Dir(dev), "max_link_speed"); ok {
		l.PortMaxSpeedMTs = &speed
	}
	if width, ok := readWidth(filepath.Dir(dev), "max_link_width"); ok {
		l.PortMaxWidth = &width
	}
	return &l
}

func readSpeed(dir, name string) (int, bool) {
	mts, err := sys.ParseLinkSpeed(readString(dir, name))
	return mts, err == nil
}

// readWidth reads the number of lanes. 0 and 255 stand for unknown
// (PCI_EXP_LNKCAP without a link; include/linux/pci.h, PCIE_LNK_WIDTH_UNKNOWN).
func readWidth(dir, name string) (int, bool) {
	n, ok := readInt(dir, name)
	return int(n), ok && n >= 1 && n <= 32
}

// readOther reads what SCSI, SATA, MMC and virtio disks say of themselves.
func readOther(d *record.Drive, dir string) {
	switch d.Transport {
	case transportMMC:
		d.Model, d.Serial, d.Firmware = readWord(dir, "device/name"), readWord(dir, "device/serial"), readWord(dir, "device/fwrev")
		return
	case transportVirtio:
		d.Serial = readWord(dir, "serial") // virtio-blk only
	}
	d.Model = readWord(dir, "device/model")
	if v := readString(dir, "device/vendor"); d.Model != nil && v != "" && v != "ATA" && !strings.HasPrefix(v, "0x") {
		d.Model = new(v + " " + *d.Model)
	}
	if d.Serial == nil {
		d.Serial = unitSerial(readString(dir, "device/vpd_pg80"))
	}
	// The SCSI revision has four characters: of a SATA drive's firmware it is
	// half (libata-scsi.c, ata_scsiop_inq_std).
	if d.Transport != transportSATA {
		d.Firmware = readWord(dir, "device/rev")
	}
	d.TemperatureFound = anyFile(dir, "device/hwmon/hwmon*/temp1_input") // drivetemp
}

// anyFile reports whether one of the patterns below dir matches.
func anyFile(dir string, patterns ...string) bool {
	for _, p := range patterns {
		if m, _ := filepath.Glob(filepath.Join(dir, p)); len(m) > 0 {
			return true
		}
	}
	return false
}
