package sensor

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"nativ/internal/record"
	"nativ/internal/sys"
)

// controller is what Identify asks of an NVMe controller: *sys.NVMe.
type controller interface {
	IdentifyController() ([]byte, error)
	HealthLog() ([]byte, error)
	Feature(id uint8, cdw11 uint32) (uint32, error)
	Close() error
}

// identifyLimit is how long Identify waits for one drive: the kernel holds
// commands back while a controller is being reset.
const identifyLimit = 5 * time.Second

// Identify reads once what the NVMe controller of a drive says of itself and how
// it is set, into d.NVMe, and where its link lies, into d.PCIAddress and
// d.PortAddress. Other drives stay as they are. What cannot be read is in
// NVMe.Missing. Where the health log can be, it decides d.TemperatureFound: the
// kernel shows a sensor for drives that have none and report 0 K.
//
// It is not for a loop: each feature is a command of its own, and a drive that
// does not know one writes the attempt into its error log.
func Identify(roots Roots, d *record.Drive) {
	cs := controllers(roots, d.Name)
	if len(cs) == 0 {
		return
	}
	dir := cs[0]
	own, port := pciFunctions(filepath.Join(dir, "device"))
	d.PCIAddress, d.PortAddress = named(own.address), named(port.address)
	name := filepath.Base(dir)
	dev := roots.dev(name)
	n := &record.NVMe{Namespaces: namespaces(roots, dir), Missing: map[string]string{}}
	d.NVMe = n
	denied := mayAdmin(roots, dev)
	if err := denied; err != nil {
		n.Missing["health"], n.Missing["features"] = err.Error(), err.Error()
		// The kernel lets everybody identify since Linux 6.2 who may open the
		// device, so that this is tried all the same.
	}
	type answer struct {
		n    record.NVMe
		warm *bool // whether the health log tells a temperature; nil is unknown
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		c, err := admin(dev)
		if err != nil {
			done <- answer{err: err}
			return
		}
		defer c.Close()
		var a answer
		a.n, a.err = identify(c, denied == nil)
		if denied == nil && a.err == nil {
			if a.warm, err = tellsTemperature(c); err != nil {
				a.n.Missing["health"] = err.Error()
			}
		}
		done <- a
	}()
	a := answer{err: fmt.Errorf("%s did not answer within %v", name, identifyLimit)}
	select {
	case a = <-done:
	case <-time.After(identifyLimit):
	}
	if a.err != nil {
		n.Missing["identify"] = a.err.Error()
		if n.Missing["features"] == "" {
			n.Missing["features"] = a.err.Error()
		}
	} else {
		a.n.Namespaces = n.Namespaces
		maps.Copy(a.n.Missing, n.Missing)
		*n = a.n
	}
	if len(n.Missing) == 0 {
		n.Missing = nil
	}
	if a.warm != nil {
		d.TemperatureFound = *a.warm
	}
}

func tellsTemperature(c controller) (*bool, error) {
	b, err := c.HealthLog()
	if err != nil {
		return nil, err
	}
	h, err := HealthOf(b)
	if err != nil {
		return nil, err
	}
	found := h.CompositeMC != nil || len(h.SensorsMC) > 0
	return &found, nil
}

func named(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// identify asks one controller. The error is that of Identify; what else could
// not be read is in Missing.
func identify(c controller, features bool) (record.NVMe, error) {
	n := record.NVMe{Missing: map[string]string{}}
	b, err := c.IdentifyController()
	if err != nil {
		return n, err
	}
	id, err := sys.ParseIdentifyController(b)
	if err != nil {
		return n, err
	}
	if id.Version != [3]int{} {
		n.Version = fmt.Sprintf("%d.%d.%d", id.Version[0], id.Version[1], id.Version[2])
	}
	n.WarningMC, n.CriticalMC = milliCelsius(id.WCTEMP), milliCelsius(id.CCTEMP)
	n.HCTM = &id.HCTM
	if id.HCTM {
		n.MinTMTMC, n.MaxTMTMC = milliCelsius(id.MNTMT), milliCelsius(id.MXTMT)
	}
	if bytes := scaled(id.CapacityBytes, 1); bytes > 0 {
		n.CapacityBytes = &bytes
	}
	for _, p := range id.PowerStates {
		s := record.PowerState{
			NonOperational: p.NonOperational,
			EntryLatencyNS: int64(p.EntryLatencyUS) * 1000,
			ExitLatencyNS:  int64(p.ExitLatencyUS) * 1000,
		}
		if power := int64(p.MaxPowerUW); power > 0 {
			s.MaxPowerUW = &power
		}
		n.PowerStates = append(n.PowerStates, s)
	}
	if features {
		if err := readFeatures(c, &id, &n); err != nil {
			n.Missing["features"] = err.Error()
		}
	}
	return n, nil
}

// readFeatures asks for how the controller is set, and for no more after the
// first refusal: every further one would go to the drive's error log.
func readFeatures(c controller, id *sys.ControllerIdentity, n *record.NVMe) error {
	v, err := c.Feature(sys.FeaturePowerManagement, 0)
	if err != nil {
		return err
	}
	state := sys.PowerStateOf(v)
	n.PowerState = &state
	if id.APST {
		if v, err = c.Feature(sys.FeatureAPST, 0); err != nil {
			return err
		}
		on := sys.APSTOf(v)
		n.APST = &on
	} else {
		n.APST = new(bool)
	}
	if id.HCTM {
		if v, err = c.Feature(sys.FeatureHCTM, 0); err != nil {
			return err
		}
		tmt1, tmt2 := sys.HCTMOf(v)
		n.TMT1MC, n.TMT2MC = milliCelsius(tmt1), milliCelsius(tmt2)
	}
	for _, t := range []struct {
		to  **int64
		sel uint32
	}{{&n.OverMC, sys.ThresholdOver}, {&n.UnderMC, sys.ThresholdUnder}} {
		if v, err = c.Feature(sys.FeatureTemperature, t.sel); err != nil {
			return err
		}
		*t.to = milliCelsius(sys.ThresholdOf(v))
	}
	return nil
}

// errNoHealth is why ReadHealth has none for a drive without a controller.
var errNoHealth = errors.New("no health log: it is no NVMe drive with a controller of its own")

// ReadHealth reads the health log of a drive's controller once, for who runs no
// sampler, and returns the controller's name with it.
func ReadHealth(roots Roots, drive string) (name string, h record.Health, err error) {
	cs := controllers(roots, drive)
	if len(cs) == 0 {
		return "", h, fmt.Errorf("%s: %w", drive, errNoHealth)
	}
	src := NewHealth(roots, filepath.Base(cs[0]))
	if src.desc.Missing != "" {
		return src.controller, h, errors.New(src.desc.Missing)
	}
	h, err = src.read()
	return src.controller, h, err
}
