package sensor

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nativ/internal/record"
)

func TestParseSmartctl(t *testing.T) {
	const head = `{"smartctl":{"version":[7,4]},"device":{"name":"/dev/nvme0","protocol":"NVMe"},`
	nvme := func(log string) string { return head + `"nvme_smart_health_information_log":{` + log + `}}` }
	for _, tt := range []struct {
		name, in string
		want     SmartctlReport
	}{
		{"7.0: degrees, whole", nvme(`"critical_warning":0,"temperature":50,"available_spare":100,"available_spare_threshold":10,"percentage_used":2,
			"data_units_read":3,"data_units_written":4,"host_reads":5,"host_writes":6,"controller_busy_time":7,"power_cycles":8,"power_on_hours":9,
			"unsafe_shutdowns":10,"media_errors":11,"num_err_log_entries":12,"warning_temp_time":13,"critical_comp_time":14,"temperature_sensors":[50,53]`),
			SmartctlReport{Health: &record.Health{CompositeMC: ptr(int64(49850)), SensorsMC: map[int]int64{1: 49850, 2: 52850},
				AvailableSpare: 100, SpareThreshold: 10, PercentageUsed: 2, ReadBytes: 3 * 512_000, WrittenBytes: 4 * 512_000,
				ReadCommands: 5, WriteCommands: 6, BusyMinutes: 7, PowerCycles: 8, PowerOnHours: 9, UnsafeShutdowns: 10, MediaErrors: 11,
				ErrorLogEntries: 12, WarningMinutes: 13, CriticalMinutes: 14}}},
		{"a sensor that is not there", nvme(`"critical_warning":0,"temperature":38,"temperature_sensors":[null,81]`),
			SmartctlReport{Health: &record.Health{CompositeMC: ptr(int64(37850)), SensorsMC: map[int]int64{2: 80850}}}},
		{"0 K: keys left out", nvme(`"critical_warning":0`), SmartctlReport{Health: &record.Health{}}},
		{"0 K as -273", nvme(`"critical_warning":0,"temperature":-273,"temperature_sensors":[-273,65262]`), SmartctlReport{Health: &record.Health{}}},
		{"7.5: thresholds", head + `"temperature":{"current":49,"op_limit_max":84},"nvme_composite_temperature_threshold":{"warning":84,"critical":88},
			"nvme_smart_health_information_log":{"nsid":-1,"critical_warning":2,"temperature":49}}`,
			SmartctlReport{TemperatureMC: ptr(int64(48850)), WarningMC: ptr(int64(83850)), CriticalMC: ptr(int64(87850)),
				Health: &record.Health{CriticalWarning: 2, CompositeMC: ptr(int64(48850))}}},
		{"2026: thermal management", nvme(`"critical_warning":0,"thermal_mgmt_temperature_1_transition_count":26,"thermal_mgmt_temperature_1_total_time":16659,
			"thermal_mgmt_temperature_2_transition_count":3,"thermal_mgmt_temperature_2_total_time":688`),
			SmartctlReport{Health: &record.Health{TMT1Transitions: 26, TMT1Seconds: 16659, TMT2Transitions: 3, TMT2Seconds: 688}}},
		{"big numbers", nvme(`"critical_warning":0,"host_reads":9007199254740993,"host_reads_s":"9007199254740993","host_reads_le":[1,0,0,0,0,0,32],
			"host_writes":36893488147419103232,"host_writes_s":"36893488147419103232","data_units_read":18446744073709551615`),
			SmartctlReport{Health: &record.Health{ReadCommands: 9007199254740993, WriteCommands: math.MaxInt64, ReadBytes: math.MaxInt64}}},
		{"SATA", `{"device":{"protocol":"ATA"},"temperature":{"current":31}}`, SmartctlReport{TemperatureMC: ptr(int64(31000))}},
		{"SATA, no temperature", `{"device":{"protocol":"ATA"},"temperature":{"current":0}}`, SmartctlReport{TemperatureMC: ptr(int64(0))}},
		{"no rights", `{"smartctl":{"exit_status":2,"messages":[{"string":"Smartctl open device: /dev/sda failed: Permission denied","severity":"error"},
			{"string":"x","severity":"information"}]}}`, SmartctlReport{Errors: []string{"Smartctl open device: /dev/sda failed: Permission denied"}}},
	} {
		got, err := ParseSmartctl([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	for _, in := range []string{"", "smartctl 7.3", "[]", nvme(""), nvme(`"critical_warning":256`), nvme(`"critical_warning":0,"temperature_sensors":5`)} {
		if got, err := ParseSmartctl([]byte(in)); err == nil {
			t.Errorf("%q was taken: %+v", in, got)
		}
	}
}

func TestParseNVMeCLI(t *testing.T) {
	warm := record.Health{CompositeMC: ptr(int64(49850))}
	for _, tt := range []struct {
		name, in string
		want     record.Health
	}{
		{"0.9: no sensors", `{"critical_warning":0,"temperature":323,"avail_spare":100,"spare_thresh":10,"percent_used":1,"data_units_read":3}`,
			record.Health{CompositeMC: ptr(int64(49850)), AvailableSpare: 100, SpareThreshold: 10, PercentageUsed: 1, ReadBytes: 3 * 512_000}},
		{"1.4: sensors and thermal management", `{"critical_warning":2,"temperature":311,"warning_temp_time":1,"critical_comp_time":2,"temperature_sensor_2":354,
			"thm_temp1_trans_count":26,"thm_temp2_trans_count":3,"thm_temp1_total_time":16659,"thm_temp2_total_time":688}`,
			record.Health{CriticalWarning: 2, CompositeMC: ptr(int64(37850)), SensorsMC: map[int]int64{2: 80850}, WarningMinutes: 1, CriticalMinutes: 2,
				TMT1Transitions: 26, TMT2Transitions: 3, TMT1Seconds: 16659, TMT2Seconds: 688}},
		{"1.12 --verbose", `{"critical_warning":{"value":8,"available_spare":0,"ro":1},"temperature":323}`,
			record.Health{CriticalWarning: 8, CompositeMC: warm.CompositeMC}},
		{"2.1: quoted", `{"critical_warning":0,"temperature":323,"data_units_written":"123.000000","host_read_commands":"340282366920938463463374607431768211455.000000"}`,
			record.Health{CompositeMC: warm.CompositeMC, WrittenBytes: 123 * 512_000, ReadCommands: math.MaxInt64}},
		{"2.2: unquoted beyond 64 bits", `{"critical_warning":0,"temperature":323,"host_write_commands":340282366920938463463374607431768211455}`,
			record.Health{CompositeMC: warm.CompositeMC, WriteCommands: math.MaxInt64}},
		{"3.0: new keys", `{"critical_warning":0,"temperature":323,"endurance_grp_critical_warning_summary":0,"op_lifetime_energy_consumed":5,"interval_power_measurement":0}`, warm},
		{"0 K and FFFFh", `{"critical_warning":0,"temperature":0,"temperature_sensor_1":65535}`, record.Health{}},
		{"beyond 16 bits", `{"critical_warning":0,"temperature":65859}`, record.Health{}},
		{"negative", `{"critical_warning":0,"temperature":-1,"power_cycles":-5}`, record.Health{}},
	} {
		got, err := ParseNVMeCLI([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	for _, in := range []string{"", "{}", "null", "38 C", `{"critical_warning":"x"}`, `{"critical_warning":{}}`, `{"critical_warning":-1}`} {
		if got, err := ParseNVMeCLI([]byte(in)); err == nil {
			t.Errorf("%q was taken: %+v", in, got)
		}
	}
}

// The programs' own output about one emulated drive.
func TestRecordedTools(t *testing.T) {
	b, err := os.ReadFile("testdata/nvme-cli-2.3.json")
	must(t, err)
	h, err := ParseNVMeCLI(b)
	must(t, err)
	if h.CompositeMC != nil || h.CriticalWarning != record.CriticalTemperature || h.ReadBytes == 0 {
		t.Errorf("nvme-cli, FFFFh: %+v", h)
	}
	b, err = os.ReadFile("testdata/smartctl-7.3.json")
	must(t, err)
	r, err := ParseSmartctl(b)
	must(t, err)
	if r.Health == nil || *r.Health.CompositeMC != 56850 || *r.TemperatureMC != 56850 || r.Health.ReadCommands == 0 {
		t.Errorf("smartctl, 330 K: %+v", r)
	}
}

func FuzzParseSmartctl(f *testing.F) {
	f.Add([]byte(`{"device":{"protocol":"NVMe"},"temperature":{"current":49},"nvme_smart_health_information_log":{"critical_warning":0,"temperature":49,"temperature_sensors":[null,81],"host_reads":9007199254740993,"host_reads_s":"9007199254740993"}}`))
	f.Add([]byte(`{"temperature":{"current":31}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseSmartctl(b)
		if err != nil {
			return
		}
		if r.TemperatureMC != nil && !plausible(*r.TemperatureMC) {
			t.Errorf("%d m°C", *r.TemperatureMC)
		}
		if r.Health != nil {
			checkHealth(t, *r.Health)
		}
	})
}

func FuzzParseNVMeCLI(f *testing.F) {
	f.Add([]byte(`{"critical_warning":0,"temperature":323,"temperature_sensor_2":354,"data_units_written":"123.000000"}`))
	f.Add([]byte(`{"critical_warning":{"value":8},"temperature":1e99}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := ParseNVMeCLI(b); err == nil {
			checkHealth(t, h)
		}
	})
}

// checkHealth looks for what no log can hold.
func checkHealth(t *testing.T, h record.Health) {
	t.Helper()
	for name, mc := range healthTemperatures("nvme0", &h) {
		if !plausible(mc) {
			t.Errorf("%s: %d m°C", name, mc)
		}
	}
	for _, n := range []int64{h.ReadBytes, h.WrittenBytes, h.ReadCommands, h.WriteCommands, h.BusyMinutes, h.PowerOnHours, h.MediaErrors, h.WarningMinutes, h.TMT1Seconds} {
		if n < 0 {
			t.Errorf("a counter below zero: %+v", h)
		}
	}
}

// A SATA drive without drivetemp is asked through smartctl, twice a pass.
func TestSmartctl(t *testing.T) {
	const disk = "sys/devices/pci0/ata1/host0/target0:0:0/0:0:0:0/"
	roots := makeTree(t, map[string]string{
		"LINKS":                 "sys/block/sda -> ../devices/pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda\n" + disk + "block/sda/device -> ../../../0:0:0:0\n",
		disk + "vendor":         "ATA     \n",
		disk + "block/sda/size": "1",
	})
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	answer := func(script string) {
		must(t, os.WriteFile(filepath.Join(dir, "smartctl"), []byte("#!/bin/sh\n"+script), 0o755))
	}
	answer(`[ "$*" = "-j -A -n standby ` + filepath.Join(roots.Dev, "sda") + `" ] && echo '{"device":{"protocol":"ATA"},"temperature":{"current":31}}'; exit 64`)
	sources := ForTarget(&record.Target{Drives: []record.Drive{{Name: "sda"}}}, roots)
	s := New(sources, func() int64 { return 0 })
	if got := s.Sample(); got.Temperatures["sda smartctl"] != 31000 {
		t.Errorf("%v; %+v", got.Temperatures, s.Sources())
	}
	if got := s.Sample(); got.Temperatures != nil {
		t.Errorf("asked again at once: %v", got.Temperatures)
	}
	var between record.Sample
	read(t.Context(), limit, append(s.exact, s.slow...), &between)
	if between.Temperatures != nil {
		t.Errorf("between the ends of a pass: %v", between.Temperatures)
	}
	for script, says := range map[string]string{
		`echo '{"smartctl":{"messages":[{"string":"Permission denied","severity":"error"}]}}'; exit 2`: "Permission denied",
		`echo '{"smartctl":{}}'; exit 2`: "no temperature",
		`echo oops; exit 1`:              "exit status 1",
		`echo oops`:                      "JSON",
	} {
		answer(script)
		src := otherTemperature(roots, "sda")
		testSource(t, src)
		if m := src.Describe().Missing; !strings.Contains(m, says) {
			t.Errorf("%s: missing: %q", script, m)
		}
	}
}
