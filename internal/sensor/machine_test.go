package sensor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

func TestCPUFrequency(t *testing.T) {
	freq := func(cpu int, v string) (string, string) {
		return fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu), v
	}
	files := map[string]string{"sys/devices/system/cpu/cpu2/online": "0\n", "sys/devices/system/cpu/cpufreq/boost": "1\n"}
	for cpu, v := range map[int]string{0: "4700123\n", 10: "800000\n", 3: "<unknown>\n"} {
		name, data := freq(cpu, v)
		files[name] = data
	}
	c := NewCPUFrequency(makeTree(t, files))
	var s record.Sample
	must(t, c.Read(&s))
	if diff := cmp.Diff(map[int]int64{0: 4_700_123_000, 10: 800_000_000}, s.CPUHz); diff != "" {
		t.Error(diff)
	}
	testSource(t, c)
	testSource(t, NewCPUFrequency(makeTree(t, nil)))
	name, data := freq(0, "<unknown>\n")
	testSource(t, NewCPUFrequency(makeTree(t, map[string]string{name: data})))
}

func TestCPUThermal(t *testing.T) {
	// Two cores with two threads each, in two packages.
	intel := map[string]string{}
	for cpu, v := range map[int]struct{ pkg, core, cores, pkgs string }{
		0: {"0", "0", "5", "9"}, 1: {"0", "0", "6", "9"}, 2: {"1", "0", "1", "0"}, 3: {"1", "0", "0", "2"},
	} {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu)
		intel[dir+"topology/physical_package_id"] = v.pkg + "\n"
		intel[dir+"topology/core_id"] = v.core + "\n"
		intel[dir+"thermal_throttle/core_throttle_count"] = v.cores + "\n"
		intel[dir+"thermal_throttle/package_throttle_count"] = v.pkgs + "\n"
	}
	zones := map[string]string{
		"sys/class/thermal/thermal_zone0/type": "acpitz\n", "sys/class/thermal/thermal_zone0/temp": "99000\n",
		"sys/class/thermal/thermal_zone1/type": "x86_pkg_temp\n", "sys/class/thermal/thermal_zone1/temp": "61000\n",
		"sys/class/thermal/thermal_zone2/type": "x86_pkg_temp\n", "sys/class/thermal/thermal_zone2/temp": "67000\n",
		"sys/class/hwmon/hwmon0/name": "coretemp\n", "sys/class/hwmon/hwmon0/temp1_label": "Package id 0\n", "sys/class/hwmon/hwmon0/temp1_input": "90000\n",
	}
	join := func(maps ...map[string]string) map[string]string {
		all := map[string]string{}
		for _, m := range maps {
			for k, v := range m {
				all[k] = v
			}
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  *record.CPUThermal
	}{
		{"Intel", join(intel, zones), &record.CPUThermal{CoreThrottles: ptr(int64(7)), PackageThrottles: ptr(int64(11)), PackageMC: ptr(int64(67000))}},
		{"counters alone", intel, &record.CPUThermal{CoreThrottles: ptr(int64(7)), PackageThrottles: ptr(int64(11))}},
		{"coretemp", map[string]string{
			"sys/class/hwmon/hwmon3/name": "coretemp\n", "sys/class/hwmon/hwmon3/temp1_label": "Package id 0\n", "sys/class/hwmon/hwmon3/temp1_input": "55000\n",
			"sys/class/hwmon/hwmon3/temp2_label": "Core 0\n", "sys/class/hwmon/hwmon3/temp2_input": "58000\n",
		}, &record.CPUThermal{PackageMC: ptr(int64(55000))}},
		{"AMD with an offset", map[string]string{
			"sys/class/hwmon/hwmon0/name": "k10temp\n", "sys/class/hwmon/hwmon0/temp1_label": "Tctl\n", "sys/class/hwmon/hwmon0/temp1_input": "77000\n",
			"sys/class/hwmon/hwmon0/temp2_label": "Tdie\n", "sys/class/hwmon/hwmon0/temp2_input": "50000\n",
		}, &record.CPUThermal{PackageMC: ptr(int64(50000))}},
		{"AMD", map[string]string{
			"sys/class/hwmon/hwmon0/name": "k10temp\n", "sys/class/hwmon/hwmon0/temp1_label": "Tctl\n", "sys/class/hwmon/hwmon0/temp1_input": "51000\n",
		}, &record.CPUThermal{PackageMC: ptr(int64(51000))}},
		{"a drive's sensor is no CPU's", map[string]string{"sys/class/hwmon/hwmon0/name": "nvme\n", "sys/class/hwmon/hwmon0/temp1_label": "Composite\n", "sys/class/hwmon/hwmon0/temp1_input": "51000\n"}, nil},
		{"virtual machine", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewCPUThermal(makeTree(t, tt.files))
			var s record.Sample
			must(t, c.Read(&s))
			if diff := cmp.Diff(tt.want, s.CPUThermal); diff != "" {
				t.Error(diff)
			}
			testSource(t, c)
		})
	}
}

func TestPressure(t *testing.T) {
	const file = "some avg10=0.00 avg60=0.12 avg300=0.08 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n"
	roots := makeTree(t, map[string]string{
		// Before Linux 5.13 the CPU's has no line "full".
		"proc/pressure/cpu":    "some avg10=0.00 avg60=0.12 avg300=0.08 total=5\n",
		"proc/pressure/io":     fmt.Sprintf(file, 7, 6),
		"proc/pressure/memory": fmt.Sprintf(file, 9, 8),
	})
	p := NewPressure(roots)
	var s record.Sample
	must(t, p.Read(&s))
	want := &record.Pressure{CPUSomeNS: ptr(int64(5000)), IOSomeNS: ptr(int64(7000)), IOFullNS: ptr(int64(6000)), MemorySomeNS: ptr(int64(9000))}
	if diff := cmp.Diff(want, s.Pressure); diff != "" {
		t.Error(diff)
	}
	testSource(t, p)
	testSource(t, NewPressure(makeTree(t, nil)))
	for _, in := range []string{"", "full total=1\n", "some avg10=0\n", "some total=x\n", "some total=-1\n"} {
		if some, _, err := parsePressure(strings.NewReader(in)); err == nil {
			t.Errorf("%q was taken: %d", in, *some)
		}
	}
}

func FuzzParsePressure(f *testing.F) {
	f.Add("some avg10=0.00 avg60=0.12 avg300=0.08 total=157622151\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=13\n")
	f.Fuzz(func(t *testing.T, in string) {
		some, full, err := parsePressure(strings.NewReader(in))
		if err == nil && (some == nil || *some < 0 || full != nil && *full < 0) {
			t.Errorf("%q: %v, %v", in, some, full)
		}
	})
}
