package sensor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// A Health reads the health log of one NVMe controller: with one command,
// everything in it is of one instant, all temperatures included.
type Health struct {
	state
	controller string
	log        func() ([]byte, error)
}

// NewHealth returns the source of a controller's health log. It looks whether
// the log may be read, but asks the drive for nothing.
func NewHealth(roots Roots, controller string) *Health {
	dev := roots.dev(controller)
	h := &Health{controller: controller, log: func() ([]byte, error) { return healthLog(dev) }}
	h.desc = record.Source{Kind: kindHealth, Name: controller}
	if err := mayAdmin(roots, dev); err != nil {
		h.desc.Missing = err.Error()
	}
	return h
}

// mayAdmin finds out whether admin commands can be sent to the controller at
// dev; the error says why not, and what to do. A controller that is busy with
// a reset is not known to refuse.
func mayAdmin(roots Roots, dev string) error {
	f, err := os.Open(dev)
	switch {
	case err == nil:
		_ = f.Close()
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no health log: %s is closed to this user; run as root", dev)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no health log: there is no %s here, as in a container; run as root on the host", dev)
	default:
		return nil // Read tells
	}
	if b, err := os.ReadFile(roots.proc("self/status")); err == nil && !parseSysAdmin(strings.NewReader(string(b))) {
		return errNoSysAdmin
	}
	// The kernel asks for the capability in the first user namespace (ioctl.c,
	// nvme_cmd_allowed); that of a container does not count.
	if b, err := os.ReadFile(roots.proc("self/uid_map")); err == nil && !wholeRange(string(b)) {
		return errNoSysAdmin
	}
	return nil
}

var errNoSysAdmin = errors.New("no health log: the kernel wants CAP_SYS_ADMIN outside of any container; run as root on the host")

// parseSysAdmin reports whether /proc/PID/status lists CAP_SYS_ADMIN (21) as
// effective; true where it does not tell.
func parseSysAdmin(r io.Reader) bool {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		if v, ok := strings.CutPrefix(sc.Text(), "CapEff:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(v), 16, 64)
			return err != nil || n&(1<<21) != 0
		}
	}
	return true
}

// wholeRange reports whether a uid_map is that of the first user namespace.
func wholeRange(uidMap string) bool {
	f := strings.Fields(uidMap)
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}

// Read adds the log, and its temperatures, to s.
func (h *Health) Read(s *record.Sample) error {
	if h.desc.Missing != "" {
		return nil
	}
	log, err := h.read()
	if err != nil {
		return h.note(err)
	}
	s.Health = union(s.Health, map[string]record.Health{h.controller: log})
	s.Temperatures = union(s.Temperatures, healthTemperatures(h.controller, &log))
	return h.note(nil)
}

func (h *Health) read() (record.Health, error) {
	b, err := h.log()
	if errors.Is(err, fs.ErrPermission) {
		return record.Health{}, fmt.Errorf("%w; run as root on the host", err)
	}
	if err != nil {
		return record.Health{}, err
	}
	return HealthOf(b)
}

// HealthOf turns the log page as the drive sends it into the record's form.
func HealthOf(page []byte) (record.Health, error) {
	raw, err := sys.ParseHealth(page)
	if err != nil {
		return record.Health{}, err
	}
	return healthOf(&raw), nil
}

// healthOf turns a log into base units. Counters that 63 bits do not hold stand
// still at the largest number.
func healthOf(l *sys.HealthLog) record.Health {
	h := record.Health{
		CriticalWarning: l.CriticalWarning,
		CompositeMC:     milliCelsius(l.CompositeK),
		AvailableSpare:  int64(l.AvailableSpare),
		SpareThreshold:  int64(l.SpareThreshold),
		PercentageUsed:  int64(l.PercentageUsed),
		ReadBytes:       scaled(l.DataUnitsRead, dataUnit),
		WrittenBytes:    scaled(l.DataUnitsWritten, dataUnit),
		ReadCommands:    scaled(l.ReadCommands, 1),
		WriteCommands:   scaled(l.WriteCommands, 1),
		BusyMinutes:     scaled(l.BusyMinutes, 1),
		PowerCycles:     scaled(l.PowerCycles, 1),
		PowerOnHours:    scaled(l.PowerOnHours, 1),
		UnsafeShutdowns: scaled(l.UnsafeShutdowns, 1),
		MediaErrors:     scaled(l.MediaErrors, 1),
		ErrorLogEntries: scaled(l.ErrorLogEntries, 1),
		WarningMinutes:  int64(l.WarningMinutes),
		CriticalMinutes: int64(l.CriticalMinutes),
		TMT1Transitions: int64(l.TMT1Transitions),
		TMT2Transitions: int64(l.TMT2Transitions),
		TMT1Seconds:     int64(l.TMT1Seconds),
		TMT2Seconds:     int64(l.TMT2Seconds),
	}
	for i, k := range l.SensorsK {
		setSensor(&h, i+1, milliCelsius(k))
	}
	return h
}

// dataUnit is the unit of data units read and written: a thousand of 512 bytes.
const dataUnit = 512_000

func scaled(n, unit uint64) int64 {
	if n > math.MaxInt64/unit {
		return math.MaxInt64
	}
	return int64(n * unit)
}

// milliCelsius converts kelvin as the kernel's hwmon does, K*1000-273150, so
// that both sources of a temperature agree; smartctl and nvme-cli subtract a
// whole 273 and are 0.15 °C above. Nil where no drive can have that
// temperature: 0 K is not implemented (or a virtual machine), FFFFh broken.
func milliCelsius(k uint16) *int64 {
	mc := int64(k)*1000 - 273_150
	if !plausible(mc) {
		return nil
	}
	return &mc
}

// plausible reports whether a drive may have the temperature. A sensor that
// stands still, or says 81 °C beside a composite of 38 °C, cannot be told here.
func plausible(mc int64) bool { return mc >= -60_000 && mc <= 200_000 }

// healthTemperatures are the temperatures of a log by the names that samples
// give them.
func healthTemperatures(controller string, h *record.Health) map[string]int64 {
	m := map[string]int64{}
	if h.CompositeMC != nil {
		m[controller+" Composite"] = *h.CompositeMC
	}
	for n, mc := range h.SensorsMC {
		m[fmt.Sprintf("%s Sensor %d", controller, n)] = mc
	}
	if len(m) == 0 {
		return nil
	}
	return m
}
