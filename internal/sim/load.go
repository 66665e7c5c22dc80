package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Values of Model.Kind and Sensor.Node.
const (
	kindCalibrated = "calibrated"
	kindArchetype  = "archetype"
	nodeJunction   = "junction"
	nodeBoard      = "board"
)

// Load reads a drive model. Errors name the file and the field.
func Load(path string) (*Model, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read drive model: %w", err)
	}
	m, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("drive model %s: %w", path, err)
	}
	return m, nil
}

// Parse reads a drive model from JSON. It takes no field that it does not know
// and no value that makes no sense; errors name the field.
func Parse(b []byte) (*Model, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	m := new(Model)
	if err := dec.Decode(m); err != nil {
		return nil, explain(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the model's last brace: one model a file")
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// explain words errors of JSON with the field first.
func explain(err error) error {
	var typ *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends in the middle: it must be one JSON object")
	case errors.As(err, &typ) && typ.Field == "":
		return fmt.Errorf("it is a JSON %s and must be an object", typ.Value)
	case errors.As(err, &typ):
		return fmt.Errorf("%s: a JSON %s does not fit there (byte %d)", typ.Field, typ.Value, typ.Offset)
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON at byte %d: %w", syntax.Offset, err)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("there is no field %s; docs/drive-models.md lists those there are", name)
	}
	return err
}

// Validate reports the first field that makes no sense.
func (m *Model) Validate() error {
	c := &check{}
	c.oneOf("kind", m.Kind, kindCalibrated, kindArchetype)
	c.that("name", m.Name != "", "must not be empty")
	c.that("about", m.About != "", "must say in a sentence what the model is")
	c.that("sources", m.Kind != kindCalibrated || len(m.Sources) > 0, "a calibrated model names what it is fitted to")
	m.Drive.validate(c)
	m.Machine.validate(c)
	for _, n := range limitNames() {
		l := m.Limits.limit(n)
		c.positive("limits."+n+".per_second", l.PerSecond)
		c.number("limits."+n+".watts_active", l.WattsActive, 0, 1000)
		c.number("limits."+n+".watts_full", l.WattsFull, l.WattsActive, 1000)
	}
	c.number("limits.read_seconds", m.Limits.ReadSeconds, 1e-7, 10)
	c.number("limits.write_seconds", m.Limits.WriteSeconds, 1e-7, 10)
	c.number("limits.flush_seconds", m.Limits.FlushSeconds, 0, 10)
	c.number("limits.latency_spread", m.Limits.LatencySpread, 0.01, 2)
	c.shares("container", m.Container)
	m.Thermal.validate(c)
	m.validateCaches(c)
	m.validateSensors(c)
	c.number("noise.second", m.Noise.Second, 0, 0.5)
	c.number("noise.correlation", m.Noise.Correlation, 0, 0.99)
	c.number("noise.pass", m.Noise.Pass, 0, 0.5)
	c.number("noise.drift_per_minute", m.Noise.DriftPerMinute, -1, 1)
	c.number("noise.swing", m.Noise.Swing, 0, 1)
	c.that("noise.swing_seconds", m.Noise.Swing == 0 || m.Noise.SwingSeconds > 0, "must be above 0 where there is a swing")
	c.number("noise.outliers", m.Noise.Outliers, 0, 0.5)
	c.that("noise.outlier_loss", m.Noise.OutlierLoss >= 0 && m.Noise.OutlierLoss < 1, "must be at least 0 and below 1")
	for i := range m.Events {
		m.validateEvent(c, fmt.Sprintf("events[%d]", i), &m.Events[i])
	}
	return c.err
}

func limitNames() []string { return []string{ReadIOPS, ReadBytes, WriteIOPS, WriteBytes} }

func (d *Identity) validate(c *check) {
	c.that("drive.model", d.Model != "", "must not be empty")
	c.oneOf("drive.transport", d.Transport, "nvme", "sata", "usb")
	c.number("drive.capacity_bytes", float64(d.CapacityBytes), 1<<30, 1<<60)
	c.number("drive.free_bytes", float64(d.FreeBytes), 0, float64(d.CapacityBytes))
	c.that("drive.fstype", d.FSType != "", "must name a filesystem, such as ext4")
	c.oneOf("drive.layer", d.Layer, "", "lvm", "crypt")
	c.maybe("drive.wctemp_celsius", d.WCTEMP, 1, 200)
	c.maybe("drive.cctemp_celsius", d.CCTEMP, 1, 200)
	for i, w := range d.PowerStatesWatts {
		c.positive(fmt.Sprintf("drive.power_states_watts[%d]", i), w)
	}
	c.that("drive.power_state", d.PowerState >= 0 && d.PowerState < max(1, len(d.PowerStatesWatts)), "must be one of power_states_watts, counted from 0")
	c.number("drive.power_state_speed", d.PowerStateSpeed, 0, 1)
	c.number("drive.percentage_used", float64(d.PercentageUsed), 0, 255)
	if l := d.Link; l != nil {
		c.that("drive.pcie_link", d.Transport == "nvme", "only an NVMe drive has one here")
		c.link("drive.pcie_link", l.SpeedMTs, l.Width)
		c.link("drive.pcie_link.max", l.MaxSpeedMTs, l.MaxWidth)
		c.link("drive.pcie_link.port_max", l.PortMaxSpeedMTs, l.PortMaxWidth)
		c.that("drive.pcie_link.speed_mts", l.SpeedMTs <= min(l.MaxSpeedMTs, l.PortMaxSpeedMTs), "is above what drive and port can do")
		c.that("drive.pcie_link.width", l.Width <= min(l.MaxWidth, l.PortMaxWidth), "is above what drive and port can do")
	}
}

func (m *Computer) validate(c *check) {
	c.that("machine.cpu_model", m.CPUModel != "", "must not be empty")
	c.that("machine.os", m.OS != "", "must not be empty")
	c.that("machine.kernel", m.Kernel != "", "must not be empty")
	c.number("machine.memory_bytes", float64(m.MemoryBytes), 1<<30, 1<<50)
	c.number("machine.performance_cpus", float64(m.PerformanceCPUs), 1, 1024)
	c.number("machine.efficiency_cpus", float64(m.EfficiencyCPUs), 0, 1024)
	c.positive("machine.cpu_hz", m.CPUHz)
	c.positive("machine.read_iops_per_cpu", m.ReadIOPSPerCPU)
	c.positive("machine.write_iops_per_cpu", m.WriteIOPSPerCPU)
	c.number("machine.quota_cpus", m.QuotaCPUs, 0, 1024)
}

func (t *Thermal) validate(c *check) {
	c.number("thermal.ambient_celsius", t.AmbientCelsius, -40, 80)
	c.number("thermal.idle_watts", t.IdleWatts, 0, 100)
	c.positive("thermal.junction_joules_per_kelvin", t.JunctionJoulesPerKelvin)
	c.positive("thermal.junction_kelvin_per_watt", t.JunctionKelvinPerWatt)
	c.positive("thermal.board_joules_per_kelvin", t.BoardJoulesPerKelvin)
	c.positive("thermal.board_kelvin_per_watt", t.BoardKelvinPerWatt)
	const fast = "times junction_kelvin_per_watt is a time constant below 1 s, which the simulation cannot follow"
	c.that("thermal.junction_joules_per_kelvin", t.JunctionJoulesPerKelvin*t.JunctionKelvinPerWatt >= 1, fast)
	c.that("thermal.board_joules_per_kelvin", t.BoardJoulesPerKelvin*t.JunctionKelvinPerWatt >= 1, fast)
	c.maybe("thermal.start_celsius", t.StartCelsius, -40, 150)
	for i := range t.Throttle {
		s, at := &t.Throttle[i], fmt.Sprintf("thermal.throttle[%d]", i)
		c.that(at+".name", s.Name != "", "must not be empty")
		c.number(at+".from_celsius", s.FromCelsius, 0, 200)
		c.that(at+".until_celsius", s.UntilCelsius < s.FromCelsius, "must be below from_celsius, or the step would never settle")
		c.that(at+".from_celsius", i == 0 || s.FromCelsius > t.Throttle[i-1].FromCelsius, "must rise from step to step")
		c.number(at+".speed", s.Speed, 0, 1)
		c.that(at+".speed", s.Speed > 0 || len(s.For) > 0 || s.LinkSpeedMTs > 0, "or for, or link_speed_mts, must say what the step does")
		for _, name := range slices.Sorted(maps.Keys(s.For)) {
			f := s.For[name]
			c.oneOf(at+".for", name, limitNames()...)
			c.that(at+".for."+name+".from_celsius", f.FromCelsius > s.UntilCelsius && f.FromCelsius <= 200, "must be above until_celsius")
			c.number(at+".for."+name+".speed", f.Speed, 0, 1)
		}
		if s.LinkSpeedMTs != 0 || s.LinkWidth != 0 {
			c.link(at+".link", s.LinkSpeedMTs, s.LinkWidth)
		}
		c.number(at+".tmt", float64(s.TMT), 0, 2)
		c.number(at+".tmt_celsius", s.TMTCelsius, 0, 200)
		c.that(at+".tmt_celsius", s.TMTCelsius == 0 || s.TMT > 0, "is the threshold of a step that is counted: needs tmt")
	}
}

func (m *Model) validateCaches(c *check) {
	if s := m.SLC; s != nil {
		c.number("slc.size_bytes", float64(s.SizeBytes), 1<<20, 1<<60)
		c.positive("slc.direct_bytes_per_second", s.DirectBytesPerSecond)
		c.number("slc.direct_bytes", float64(s.DirectBytes), 0, 1<<60)
		c.number("slc.folding_bytes_per_second", s.FoldingBytesPerSecond, 0, math.MaxFloat64)
		c.that("slc.folding_bytes_per_second", (s.DirectBytes > 0) == (s.FoldingBytesPerSecond > 0), "goes together with direct_bytes, after which it comes")
		c.number("slc.recover_after_seconds", s.RecoverAfterSeconds, 0, 1e6)
		c.number("slc.recover_bytes_per_second", s.RecoverBytesPerSecond, 0, math.MaxFloat64)
		c.number("slc.filled_bytes", float64(s.FilledBytes), 0, float64(s.SizeBytes))
	}
	if g := m.GC; g != nil {
		c.number("garbage_collection.after_bytes", float64(g.AfterBytes), 0, 1<<60)
		c.number("garbage_collection.ramp_bytes", float64(g.RampBytes), 0, 1<<60)
		c.number("garbage_collection.speed", g.Speed, 0.001, 1)
		c.number("garbage_collection.recover_bytes_per_second", g.RecoverBytesPerSecond, 0, math.MaxFloat64)
	}
}

func (m *Model) validateSensors(c *check) {
	seen := map[int]bool{}
	for i := range m.Sensors {
		s, at := &m.Sensors[i], fmt.Sprintf("sensors[%d]", i)
		c.number(at+".number", float64(s.Number), 0, 8)
		c.that(at+".number", !seen[s.Number], "is there twice")
		seen[s.Number] = true
		c.oneOf(at+".node", s.Node, nodeJunction, nodeBoard)
		c.number(at+".gain", s.Gain, 0, 10)
		c.number(at+".offset_kelvin", s.OffsetKelvin, -100, 100)
		c.number(at+".lag_seconds", s.LagSeconds, 0, 3600)
		c.number(at+".step_kelvin", s.StepKelvin, 0, 10)
		c.number(at+".stuck_after_seconds", s.StuckAfterSeconds, 0, 1e9)
		c.maybe(at+".stuck_celsius", s.StuckCelsius, -273, 300)
	}
	c.that("sensors", m.Drive.Transport == "nvme" || len(m.Sensors) <= 1, "only an NVMe drive has more than one")
}

func (m *Model) validateEvent(c *check, at string, e *Event) {
	c.oneOf(at+".kind", e.Kind, EventNeighbour, EventLink, EventCPUFrequency, EventCPULoad, EventCPUQuota, EventReset, EventMediaErrors, EventUnknown)
	c.that(at+".pass", e.Pass == nil || *e.Pass >= 0, "counts from 0")
	c.number(at+".from_seconds", e.FromSeconds, 0, 1e9)
	c.that(at+".until_seconds", e.UntilSeconds == 0 || e.UntilSeconds > e.FromSeconds, "must be after from_seconds")
	c.that(at+".fails", !e.Fails || e.Kind == EventMediaErrors, "belongs to media-errors")
	switch e.Kind {
	case EventLink:
		c.that(at+".kind", m.Drive.Link != nil, "link needs drive.pcie_link")
		c.link(at, e.SpeedMTs, e.Width)
	case EventCPUQuota:
		c.positive(at+".cpus", e.CPUs)
	case EventReset:
		c.that(at+".until_seconds", e.UntilSeconds > 0, "a reset must end")
	default:
		c.that(at+".share", e.Share > 0 && e.Share < 1, "must be between 0 and 1")
	}
}

// A check keeps the first thing that makes no sense.
type check struct{ err error }

func (c *check) that(field string, ok bool, rule string) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%s: %s", field, rule)
	}
}

func (c *check) number(field string, v, least, most float64) {
	c.that(field, v >= least && v <= most, fmt.Sprintf("%s is not between %s and %s", decimal(v), decimal(least), decimal(most)))
}

// decimal writes a number without an exponent where people would.
func decimal(v float64) string {
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e19) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func (c *check) maybe(field string, v *float64, least, most float64) {
	if v != nil {
		c.number(field, *v, least, most)
	}
}

func (c *check) positive(field string, v float64) {
	c.that(field, v > 0 && v < math.MaxFloat64, fmt.Sprintf("%s is not above 0", decimal(v)))
}

func (c *check) oneOf(field, v string, list ...string) {
	var names []string
	for _, n := range list {
		names = append(names, fmt.Sprintf("%q", n))
	}
	c.that(field, slices.Contains(list, v), fmt.Sprintf("%q is none of %s", v, strings.Join(names, ", ")))
}

func (c *check) shares(field string, shares map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		c.oneOf(field, name, limitNames()...)
		c.that(field+"."+name, shares[name] > 0 && shares[name] <= 1, "must be above 0 and at most 1")
	}
}

func (c *check) link(field string, mts, width int) {
	c.number(field+"_speed_mts", float64(mts), 2500, 256000)
	c.number(field+"_width", float64(width), 1, 32)
}
