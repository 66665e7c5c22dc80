package sensor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"nativ/internal/record"
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
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	must(t, err)
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return makeTree(t, files)
}

// makeTree builds a tree of files; LINKS holds lines "path -> target".
func makeTree(t *testing.T, files map[string]string) Roots {
	t.Helper()
	root := t.TempDir()
	for _, d := range []string{"sys", "proc", "dev"} {
		must(t, os.Mkdir(filepath.Join(root, d), 0o755))
	}
	for name, data := range files {
		if name == "LINKS" {
			for l := range strings.Lines(data) {
				from, to, _ := strings.Cut(strings.TrimSpace(l), " -> ")
				from = filepath.Join(root, from)
				must(t, os.MkdirAll(filepath.Dir(from), 0o755))
				must(t, os.Symlink(to, from))
			}
			continue
		}
		write(t, filepath.Join(root, name), data)
	}
	return Roots{Sys: root + "/sys", Proc: root + "/proc", Dev: root + "/dev"}
}

func write(t *testing.T, path, data string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(data), 0o644))
}

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

func symlink(t *testing.T, to, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.Symlink(to, path))
}
