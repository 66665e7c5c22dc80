package sensor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// page makes a health log: the composite in kelvin, then sensors from 1 on.
func page(kelvin ...uint16) []byte {
	b := make([]byte, sys.HealthLogLen)
	binary.LittleEndian.PutUint16(b[1:], kelvin[0])
	for i, k := range kelvin[1:] {
		binary.LittleEndian.PutUint16(b[200+2*i:], k)
	}
	return b
}

func TestHealthTemperatures(t *testing.T) {
	for _, tt := range []struct {
		name string
		page []byte
		want map[string]int64
	}{
		{"composite alone", page(323), map[string]int64{"nvme0 Composite": 49850}},
		{"0 K of a virtual machine", page(0), nil},
		{"FFFFh", page(0xffff), nil},
		{"-216 °C", page(57), nil},
		{"100 °C", page(374), map[string]int64{"nvme0 Composite": 100850}},
		{"below zero", page(268), map[string]int64{"nvme0 Composite": -5150}},
		{"sensor 2 without sensor 1, and it lies", page(311, 0, 354), map[string]int64{"nvme0 Composite": 37850, "nvme0 Sensor 2": 80850}},
		{"no composite but a sensor", page(0, 320), map[string]int64{"nvme0 Sensor 1": 46850}},
		{"a sensor of FFFFh", page(320, 0xffff, 321), map[string]int64{"nvme0 Composite": 46850, "nvme0 Sensor 2": 47850}},
		{"all eight", page(300, 301, 302, 303, 304, 305, 306, 307, 308), map[string]int64{"nvme0 Composite": 26850,
			"nvme0 Sensor 1": 27850, "nvme0 Sensor 2": 28850, "nvme0 Sensor 3": 29850, "nvme0 Sensor 4": 30850,
			"nvme0 Sensor 5": 31850, "nvme0 Sensor 6": 32850, "nvme0 Sensor 7": 33850, "nvme0 Sensor 8": 34850}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			roots := makeTree(t, map[string]string{"dev/nvme0": ""})
			h := NewHealth(roots, "nvme0")
			h.log = func() ([]byte, error) { return tt.page, nil }
			var s record.Sample
			// A frozen sensor cannot be told from a steady one: it reads as it is.
			for range 2 {
				must(t, h.Read(&s))
			}
			if diff := cmp.Diff(tt.want, s.Temperatures); diff != "" {
				t.Error(diff)
			}
			if len(s.Health) != 1 {
				t.Errorf("%+v", s.Health)
			}
			testSource(t, h)
		})
	}
}

func TestHealthOf(t *testing.T) {
	b := page(357)
	le := binary.LittleEndian
	copy(b[3:], []byte{100, 10, 130})
	b[0] = record.CriticalTemperature
	le.PutUint64(b[32:], 3)              // data units read
	le.PutUint64(b[48:], math.MaxUint64) // written
	b[64+8] = 1                          // 2^64 reads
	le.PutUint64(b[176:], 4910)          // error log
	// Minutes of warning though the drive has no thresholds, and times without
	// transitions: both exist.
	le.PutUint32(b[192:], 7)
	le.PutUint32(b[224:], math.MaxUint32)
	got, err := HealthOf(b)
	must(t, err)
	want := record.Health{
		CriticalWarning: record.CriticalTemperature, CompositeMC: ptr(int64(83850)),
		AvailableSpare: 100, SpareThreshold: 10, PercentageUsed: 130,
		ReadBytes: 3 * 512_000, WrittenBytes: math.MaxInt64, ReadCommands: math.MaxInt64,
		ErrorLogEntries: 4910, WarningMinutes: 7, TMT1Seconds: math.MaxUint32,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := HealthOf(b[:100]); err == nil {
		t.Error("a short log was taken")
	}
}

func FuzzHealthOf(f *testing.F) {
	f.Add(page(323, 0, 354))
	f.Add(bytes.Repeat([]byte{0xff}, sys.HealthLogLen))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := HealthOf(b)
		if err != nil {
			return
		}
		for name, mc := range healthTemperatures("nvme0", &h) {
			if !plausible(mc) {
				t.Errorf("%s: %d m°C", name, mc)
			}
		}
		for _, n := range []int64{h.ReadBytes, h.WrittenBytes, h.ReadCommands, h.WriteCommands, h.BusyMinutes, h.PowerOnHours, h.MediaErrors} {
			if n < 0 {
				t.Errorf("a counter below zero: %+v", h)
			}
		}
	})
}

// Whoever may not read the log learns why, and what to do.
func TestHealthMissing(t *testing.T) {
	dev := map[string]string{"dev/nvme0": ""}
	with := func(name, data string) map[string]string { return map[string]string{"dev/nvme0": "", name: data} }
	for _, tt := range []struct {
		name  string
		files map[string]string
		says  string // "" where it may be tried
	}{
		{"no device, as in a container", nil, "there is no"},
		{"nothing is known", dev, ""},
		{"root", with("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n"), ""},
		{"without the capability", with("proc/self/status", "CapEff:\t000001ffffdfffff\n"), "CAP_SYS_ADMIN"},
		{"in a user namespace", with("proc/self/uid_map", "         0     100000      65536\n"), "CAP_SYS_ADMIN"},
		{"in the first one", with("proc/self/uid_map", "         0          0 4294967295\n"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := NewHealth(makeTree(t, tt.files), "nvme0")
			h.log = func() ([]byte, error) { return page(300), nil }
			m := h.Describe().Missing
			if (m == "") != (tt.says == "") || !strings.Contains(m, tt.says) || m != "" && !strings.Contains(m, "run as root on the host") {
				t.Errorf("missing: %q", m)
			}
			testSource(t, h)
		})
	}
}

func TestHealthErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		says string
	}{
		{&fs.PathError{Op: "ioctl", Path: "/dev/nvme0", Err: fs.ErrPermission}, "run as root on the host"},
		{&sys.StatusError{Op: "get log page 02h", Status: 0x4002}, "NVMe status 0x4002"},
		{errors.New("busy"), "busy"},
		{nil, "0 bytes"}, // a log that is not one
	} {
		h := NewHealth(makeTree(t, map[string]string{"dev/nvme0": ""}), "nvme0")
		h.log = func() ([]byte, error) { return nil, tt.err }
		var s record.Sample
		if err := h.Read(&s); err == nil || s.Health != nil || s.Temperatures != nil || !strings.Contains(h.Describe().Missing, tt.says) {
			t.Errorf("%v: %v, %+v", tt.err, err, h.Describe())
		}
		testSource(t, h)
	}
}

func TestReadHealthOfOthers(t *testing.T) {
	// A USB bridge before an NVMe drive: a SCSI disk, whose device must not be
	// sent NVMe commands; it is not even opened.
	roots := makeTree(t, map[string]string{
		"LINKS":     "sys/block/sda -> ../devices/usb1/host0/target0:0:0/0:0:0:0/block/sda\nsys/devices/usb1/host0/target0:0:0/0:0:0:0/block/sda/device -> ../../../0:0:0:0\n",
		"dev/nvme0": "", "dev/sda": "", "sys/devices/usb1/host0/target0:0:0/0:0:0:0/block/sda/size": "1",
	})
	if _, _, err := ReadHealth(roots, "sda"); !errors.Is(err, errNoHealth) {
		t.Errorf("%v", err)
	}
	d := record.Drive{Name: "sda"}
	Identify(roots, &d)
	if diff := cmp.Diff(record.Drive{Name: "sda"}, d); diff != "" {
		t.Error(diff)
	}
	t.Setenv("PATH", t.TempDir())
	for _, src := range ForTarget(&record.Target{Drives: []record.Drive{{Name: "sda"}}}, roots) {
		if k := src.Describe().Kind; k == kindHealth || k == kindLink || k == kindAER {
			t.Errorf("%+v", src.Describe())
		}
	}
}

// ctrl is an NVMe controller that refuses features from the given one on.
type ctrl struct {
	id      []byte
	health  []byte
	values  map[uint8]uint32
	refuse  map[uint8]bool
	asked   []uint8
	refused error
}

func (c *ctrl) IdentifyController() ([]byte, error) { return c.id, c.refused }
func (c *ctrl) HealthLog() ([]byte, error)          { return c.health, c.refused }
func (c *ctrl) Close() error                        { return nil }
func (c *ctrl) Feature(id uint8, cdw11 uint32) (uint32, error) {
	c.asked = append(c.asked, id)
	if c.refuse[id] {
		return 0, &sys.StatusError{Op: "get feature", Status: 0x4002}
	}
	return c.values[id], nil
}

func TestIdentify(t *testing.T) {
	qemu, err := os.ReadFile("../sys/testdata/id-ctrl.bin")
	must(t, err)
	le := binary.LittleEndian
	base := record.NVMe{
		Version: "1.4.0", WarningMC: ptr(int64(69850)), CriticalMC: ptr(int64(99850)), HCTM: ptr(false), APST: ptr(false),
		PowerState:  ptr(2),
		PowerStates: []record.PowerState{{MaxPowerUW: ptr(int64(25_000_000)), EntryLatencyNS: 16_000, ExitLatencyNS: 4_000}},
		OverMC:      ptr(int64(69850)), UnderMC: ptr(int64(69850)),
		Missing: map[string]string{},
	}
	values := map[uint8]uint32{sys.FeaturePowerManagement: 2, sys.FeatureTemperature: 343, sys.FeatureHCTM: 350 << 16, sys.FeatureAPST: 1}
	for _, tt := range []struct {
		name   string
		set    func(b []byte)
		refuse map[uint8]bool
		skip   bool // no features
		want   func(n *record.NVMe)
		asked  int
	}{
		{"as recorded", func([]byte) {}, nil, false, func(*record.NVMe) {}, 3},
		{"thresholds of 0, as Optane drives have", func(b []byte) { clear(b[266:270]) }, nil, false,
			func(n *record.NVMe) { n.WarningMC, n.CriticalMC = nil, nil }, 3},
		{"HCTM, heavy throttling disabled", func(b []byte) { b[322] = 1; le.PutUint16(b[324:], 273); le.PutUint16(b[326:], 357) }, nil, false,
			func(n *record.NVMe) {
				n.HCTM, n.MinTMTMC, n.MaxTMTMC, n.TMT1MC = ptr(true), ptr(int64(-150)), ptr(int64(83850)), ptr(int64(76850))
			}, 4},
		{"APST", func(b []byte) { b[265] = 1 }, nil, false, func(n *record.NVMe) { n.APST = ptr(true) }, 4},
		{"a drive that writes refused features into its error log is asked no second time", func([]byte) {},
			map[uint8]bool{sys.FeatureTemperature: true}, false,
			func(n *record.NVMe) {
				n.OverMC, n.UnderMC = nil, nil
				n.Missing["features"] = "get feature: the drive answers NVMe status 0x4002 (type 0, code 02h): invalid field in command"
			}, 2},
		{"without the privilege", func([]byte) {}, nil, true, func(n *record.NVMe) { n.OverMC, n.UnderMC, n.PowerState, n.APST = nil, nil, nil, nil }, 0},
		{"capacity", func(b []byte) { le.PutUint64(b[280:], 2e12) }, nil, false, func(n *record.NVMe) { n.CapacityBytes = ptr(int64(2e12)) }, 3},
		{"no version, and a state that tells no power", func(b []byte) { clear(b[80:84]); clear(b[2048:2050]); b[2051] = 2 }, nil, false,
			func(n *record.NVMe) {
				n.Version = ""
				n.PowerStates = []record.PowerState{{NonOperational: true, EntryLatencyNS: 16_000, ExitLatencyNS: 4_000}}
			}, 3},
	} {
		c := &ctrl{id: append([]byte(nil), qemu...), values: values, refuse: tt.refuse}
		tt.set(c.id)
		want := base
		want.Missing = map[string]string{}
		tt.want(&want)
		got, err := identify(c, !tt.skip)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if len(c.asked) != tt.asked {
			t.Errorf("%s: asked for %#x", tt.name, c.asked)
		}
	}
	if _, err := identify(&ctrl{refused: errors.New("no")}, true); err == nil {
		t.Error("a failure was taken for an answer")
	}
	if _, err := identify(&ctrl{id: qemu[:12]}, true); err == nil {
		t.Error("a short answer was taken")
	}
}

// A drive of which the kernel shows a sensor may have none.
func TestTellsTemperature(t *testing.T) {
	for name, tt := range map[string]struct {
		page []byte
		want bool
	}{"warm": {page(323), true}, "a sensor alone": {page(0, 0, 300), true}, "0 K": {page(0), false}, "FFFFh": {page(0xffff, 0xffff), false}} {
		if got, err := tellsTemperature(&ctrl{health: tt.page}); err != nil || *got != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, c := range []*ctrl{{refused: errors.New("no")}, {health: page(323)[:9]}} {
		if got, err := tellsTemperature(c); err == nil {
			t.Errorf("%v", *got)
		}
	}
}

// What a drive's place in the machine is, shows without asking the drive.
func TestIdentifyPlace(t *testing.T) {
	for _, tt := range []struct {
		tree, drive, pci string
		namespaces       []string
	}{
		{"nvme", "nvme0n1", "0000:00:02.0", []string{"nvme0n1"}},
		{"nvme-multipath", "nvme1n1", "0000:00:04.0", []string{"nvme1n1"}},
	} {
		d := record.Drive{Name: tt.drive}
		Identify(tree(t, tt.tree), &d)
		if d.PCIAddress == nil || *d.PCIAddress != tt.pci || d.PortAddress != nil || d.NVMe == nil || d.TemperatureFound {
			t.Fatalf("%s: %+v", tt.tree, d)
		}
		if diff := cmp.Diff(tt.namespaces, d.NVMe.Namespaces); diff != "" {
			t.Errorf("%s: %s", tt.tree, diff)
		}
		for _, what := range []string{"health", "features", "identify"} {
			if d.NVMe.Missing[what] == "" {
				t.Errorf("%s: nothing says why there is no %s: %v", tt.tree, what, d.NVMe.Missing)
			}
		}
	}
}
