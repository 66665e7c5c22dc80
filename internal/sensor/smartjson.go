package sensor

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// A SmartctlReport is what of the JSON of "smartctl -j -a" says how warm and how
// well a drive is.
type SmartctlReport struct {
	// Health is the log of an NVMe drive; nil of others.
	Health *record.Health
	// TemperatureMC is the drive's temperature; nil where smartctl tells none.
	TemperatureMC *int64
	// WarningMC and CriticalMC are WCTEMP and CCTEMP, which smartctl tells since
	// 7.5.
	WarningMC, CriticalMC *int64
	// Errors are smartctl's own messages of that severity.
	Errors []string
}

// ParseSmartctl parses the JSON of smartctl 7.0 and later. Its temperatures of
// NVMe drives are whole degrees, kelvin less 273; here they become kelvin less
// 273.15, as everywhere in this package. Those of other drives are degrees
// Celsius at their origin.
func ParseSmartctl(b []byte) (SmartctlReport, error) {
	var r SmartctlReport
	var in struct {
		Smartctl struct {
			Messages []struct{ String, Severity string }
		}
		Device      struct{ Protocol string }
		Temperature struct{ Current json.RawMessage }
		Log         members `json:"nvme_smart_health_information_log"`
		Thresholds  members `json:"nvme_composite_temperature_threshold"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return r, fmt.Errorf("parse the JSON of smartctl: %w", err)
	}
	for _, m := range in.Smartctl.Messages {
		if m.Severity == "error" {
			r.Errors = append(r.Errors, m.String)
		}
	}
	nvme := in.Device.Protocol == "NVMe" || in.Log != nil
	if c, ok := number(in.Temperature.Current); ok {
		r.TemperatureMC = fromCelsius(c, nvme)
	}
	for _, t := range []struct {
		to  **int64
		key string
	}{{&r.WarningMC, "warning"}, {&r.CriticalMC, "critical"}} {
		if c, ok := in.Thresholds.get(t.key); ok {
			*t.to = fromCelsius(c, true)
		}
	}
	if in.Log == nil {
		return r, nil
	}
	l := in.Log
	h := record.Health{
		AvailableSpare: l.count("available_spare"), SpareThreshold: l.count("available_spare_threshold"),
		PercentageUsed: l.count("percentage_used"),
		ReadBytes:      units(l.count("data_units_read")), WrittenBytes: units(l.count("data_units_written")),
		ReadCommands: l.count("host_reads"), WriteCommands: l.count("host_writes"),
		BusyMinutes: l.count("controller_busy_time"), PowerCycles: l.count("power_cycles"), PowerOnHours: l.count("power_on_hours"),
		UnsafeShutdowns: l.count("unsafe_shutdowns"), MediaErrors: l.count("media_errors"), ErrorLogEntries: l.count("num_err_log_entries"),
		// Left out where the drive has no thresholds, and before mid-2026 (TMT).
		WarningMinutes: l.count("warning_temp_time"), CriticalMinutes: l.count("critical_comp_time"),
		TMT1Transitions: l.count("thermal_mgmt_temperature_1_transition_count"), TMT1Seconds: l.count("thermal_mgmt_temperature_1_total_time"),
		TMT2Transitions: l.count("thermal_mgmt_temperature_2_transition_count"), TMT2Seconds: l.count("thermal_mgmt_temperature_2_total_time"),
	}
	w, ok := l.get("critical_warning")
	if !ok || w > math.MaxUint8 || w < 0 {
		return r, errors.New("parse the JSON of smartctl: the NVMe log has no critical_warning of one byte")
	}
	h.CriticalWarning = uint8(w)
	if c, ok := l.get("temperature"); ok {
		h.CompositeMC = fromCelsius(c, true)
	}
	var sensors []json.RawMessage
	if raw := l["temperature_sensors"]; raw != nil {
		if err := json.Unmarshal(raw, &sensors); err != nil {
			return r, fmt.Errorf("parse the JSON of smartctl: temperature_sensors: %w", err)
		}
	}
	for i, raw := range sensors {
		// Null is a sensor that the drive does not have, before one that it has.
		if c, ok := number(raw); ok && i < 8 {
			setSensor(&h, i+1, fromCelsius(c, true))
		}
	}
	r.Health = &h
	return r, nil
}

// ParseNVMeCLI parses the JSON of "nvme smart-log -o json" of nvme-cli 0.9 to
// 3.0. Its temperatures have always been kelvin.
func ParseNVMeCLI(b []byte) (record.Health, error) {
	var l members
	if err := json.Unmarshal(b, &l); err != nil {
		return record.Health{}, fmt.Errorf("parse the JSON of nvme-cli: %w", err)
	}
	warning := l["critical_warning"]
	var bits members // with --verbose, since 1.12
	if json.Unmarshal(warning, &bits) == nil {
		warning = bits["value"]
	}
	w, ok := number(warning)
	if !ok || w > math.MaxUint8 || w < 0 {
		return record.Health{}, errors.New("parse the JSON of nvme-cli: no critical_warning of one byte; is it that of nvme smart-log?")
	}
	h := record.Health{
		CriticalWarning: uint8(w),
		AvailableSpare:  l.count("avail_spare"), SpareThreshold: l.count("spare_thresh"), PercentageUsed: l.count("percent_used"),
		ReadBytes: units(l.count("data_units_read")), WrittenBytes: units(l.count("data_units_written")),
		ReadCommands: l.count("host_read_commands"), WriteCommands: l.count("host_write_commands"),
		BusyMinutes: l.count("controller_busy_time"), PowerCycles: l.count("power_cycles"), PowerOnHours: l.count("power_on_hours"),
		UnsafeShutdowns: l.count("unsafe_shutdowns"), MediaErrors: l.count("media_errors"), ErrorLogEntries: l.count("num_err_log_entries"),
		WarningMinutes: l.count("warning_temp_time"), CriticalMinutes: l.count("critical_comp_time"),
		TMT1Transitions: l.count("thm_temp1_trans_count"), TMT1Seconds: l.count("thm_temp1_total_time"),
		TMT2Transitions: l.count("thm_temp2_trans_count"), TMT2Seconds: l.count("thm_temp2_total_time"),
	}
	if k, ok := l.get("temperature"); ok {
		h.CompositeMC = fromKelvin(k)
	}
	for n := 1; n <= 8; n++ {
		if k, ok := l.get(fmt.Sprintf("temperature_sensor_%d", n)); ok {
			setSensor(&h, n, fromKelvin(k))
		}
	}
	return h, nil
}

// members are those of a JSON object.
type members map[string]json.RawMessage

// get returns a number. Above 2^53 smartctl gives it as a string, too, under
// KEY_s, for readers that turn all numbers into floating point.
func (m members) get(key string) (int64, bool) {
	if n, ok := number(m[key+"_s"]); ok {
		return n, true
	}
	return number(m[key])
}

// count is a counter; 0 where it is left out, as both programs do with some
// that are 0.
func (m members) count(key string) int64 {
	n, _ := m.get(key)
	return max(n, 0)
}

// number reads a JSON number, or one in quotes ("123.000000", nvme-cli 2.1).
// What 63 bits do not hold is the largest or smallest that they do.
func number(raw json.RawMessage) (int64, bool) {
	s := strings.Trim(string(raw), `"`)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	// An exponent could ask for gigabytes of digits.
	if len(s) == 0 || len(s) > 64 || strings.Trim(s, "+-.0123456789eE") != "" {
		return 0, false
	}
	f, _, err := big.ParseFloat(s, 10, 160, big.ToZero)
	if err != nil {
		return 0, false
	}
	n, _ := f.Int64() // saturates
	return n, true
}

// units turns data units into bytes.
func units(n int64) int64 { return scaled(uint64(n), dataUnit) }

func fromKelvin(k int64) *int64 {
	if k < 0 || k > math.MaxUint16 {
		return nil
	}
	return milliCelsius(uint16(k))
}

func fromCelsius(c int64, wasKelvin bool) *int64 {
	if wasKelvin && c >= -273 && c < math.MaxUint16-273 {
		return fromKelvin(c + 273)
	}
	if wasKelvin || c < -273 || c > math.MaxUint16 {
		return nil
	}
	if mc := c * 1000; plausible(mc) {
		return &mc
	}
	return nil
}

func setSensor(h *record.Health, n int, mc *int64) {
	if mc == nil {
		return
	}
	if h.SensorsMC == nil {
		h.SensorsMC = map[int]int64{}
	}
	h.SensorsMC[n] = *mc
}
