package sensor

import (
	"path/filepath"
	"testing"

	"nativ/internal/record"
	"nativ/internal/sensor/sensortest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree builds a recorded sysfs with its links and returns its root.
func tree(t *testing.T, name string) Roots {
	t.Helper()
	return rootsOf(sensortest.Recorded(t, filepath.Join("testdata", name+".txtar")))
}

// makeTree builds a tree of files; LINKS holds lines "path -> target".
func makeTree(t *testing.T, files map[string]string) Roots {
	t.Helper()
	return rootsOf(sensortest.Tree(t, files))
}

func rootsOf(root string) Roots {
	return Roots{Sys: root + "/sys", Proc: root + "/proc", Dev: root + "/dev"}
}

func write(t *testing.T, path, data string) { t.Helper(); sensortest.Write(t, path, data) }

func symlink(t *testing.T, to, path string) { t.Helper(); sensortest.Link(t, to, path) }

// testSource is what every source must do: say what it is, leave what others
// read alone, and add something exactly where it does not say that it cannot.
func testSource(t *testing.T, src Source) {
	t.Helper()
	other := record.DeviceCounters{ReadIOs: 1}
	s := record.Sample{
		Devices:      map[string]record.DeviceCounters{"other": other},
		Temperatures: map[string]int64{"other": 1},
	}
	err := src.Read(&s)
	d := src.Describe()
	if s.Devices["other"] != other || s.Temperatures["other"] != 1 {
		t.Errorf("%+v: destroys what others read: %+v", d, s)
	}
	added := len(s.Devices) + len(s.Temperatures) - 2 + len(s.CPUs) + len(s.Health) + len(s.Links) + len(s.AER) + len(s.CPUHz)
	for _, there := range []bool{s.Cgroup != nil, s.CPUThermal != nil, s.Pressure != nil} {
		if there {
			added++
		}
	}
	if (added > 0) != (d.Missing == "") {
		t.Errorf("%+v: added %d values: %+v", d, added, s)
	}
	if err != nil && added > 0 {
		t.Errorf("%+v: read something and failed: %v", d, err)
	}
	switch d.Kind {
	case kindTemperature, kindHealth, kindDevice, kindLink, kindAER, kindCPU, kindCPUFrequency, kindCPUThermal, kindPressure, kindCgroup:
	default:
		t.Errorf("kind %q", d.Kind)
	}
}
