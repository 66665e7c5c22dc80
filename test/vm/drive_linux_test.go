package vm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// throttle holds a device's drive to so many bytes a second; 0 ends that.
func (m *machine) throttle(device string, bytesPerSecond int64) {
	m.t.Helper()
	m.t.Logf("%s: at most %d bytes/s (0 is no limit)", device, bytesPerSecond)
	m.qmp("block_set_io_throttle", map[string]any{
		"id": device, "bps": bytesPerSecond, "bps_rd": 0, "bps_wr": 0, "iops": 0, "iops_rd": 0, "iops_wr": 0,
	})
}

// setWarning sets the critical warning bits of an NVMe drive's health log.
func (m *machine) setWarning(device string, bits uint8) {
	m.t.Helper()
	m.qmp("qom-set", map[string]any{"path": "/machine/peripheral/" + device, "property": "smart_critical_warning", "value": bits})
}

func (m *machine) warning(device string) (bits uint8) {
	m.t.Helper()
	r := m.qmp("qom-get", map[string]any{"path": "/machine/peripheral/" + device, "property": "smart_critical_warning"})
	if err := json.Unmarshal(r, &bits); err != nil {
		m.t.Fatal(err)
	}
	return bits
}

// pull takes a device out of its slot and waits until the guest has let it go.
func (m *machine) pull(device string) {
	m.t.Helper()
	m.t.Logf("%s: pulled", device)
	m.qmp("device_del", map[string]any{"id": device})
	for deadline := time.Now().Add(time.Minute); !m.qmpc.happened("DEVICE_DELETED", device); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			m.t.Fatalf("the guest did not let %s go", device)
		}
	}
}

// setTemperature sets an NVMe drive's composite temperature in kelvins.
//
// QEMU has no property for it. The field lies right before
// smart_critical_warning in NvmeCtrl (hw/nvme/nvme.h, a uint16_t and a uint8_t),
// so it is found by changing that property and looking for the change in QEMU's
// memory, and set there.
func (m *machine) setTemperature(device string, kelvin uint16) {
	m.t.Helper()
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", m.cmd.Process.Pid), os.O_RDWR, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	defer mem.Close()
	at, known := m.sensors[device]
	if !known {
		if at, err = m.findTemperature(device, mem); err != nil {
			m.t.Fatal(err)
		}
		if m.sensors == nil {
			m.sensors = map[string]int64{}
		}
		m.sensors[device] = at
	}
	var b [2]byte
	binary.LittleEndian.PutUint16(b[:], kelvin)
	if _, err := mem.WriteAt(b[:], at); err != nil {
		m.t.Fatalf("set the temperature of %s: %v", device, err)
	}
}

// findTemperature returns the address of the field, which still has QEMU's
// NVME_TEMPERATURE of 323 K.
func (m *machine) findTemperature(device string, mem io.ReaderAt) (int64, error) {
	const initial = 0x143
	field := func(bits uint8) []byte { return append(binary.LittleEndian.AppendUint16(nil, initial), bits) }
	regions, err := m.memory()
	if err != nil {
		return 0, err
	}
	old := m.warning(device)
	m.qmp("stop", nil)
	defer m.qmp("cont", nil)
	defer m.setWarning(device, old)
	m.setWarning(device, 1)
	var found []int64
	for _, r := range regions {
		b := make([]byte, r.to-r.from)
		n, _ := mem.ReadAt(b, r.from) // what cannot be read is not it
		for off := 0; off < n; {
			i := bytes.Index(b[off:n], field(1))
			if i < 0 {
				break
			}
			found = append(found, r.from+int64(off+i))
			off += i + 1
		}
	}
	for _, bits := range []uint8{8, 16, 4} {
		m.setWarning(device, bits)
		var still []int64
		for _, at := range found {
			b := make([]byte, 3)
			if _, err := mem.ReadAt(b, at); err == nil && bytes.Equal(b, field(bits)) {
				still = append(still, at)
			}
		}
		found = still
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("find the temperature of %s in qemu's memory: %d places instead of one", device, len(found))
	}
	return found[0], nil
}

type region struct{ from, to int64 }

// memory lists the regions where QEMU's own structures can be: the guest's
// memory is one large mapping, and far too large to read.
func (m *machine) memory() ([]region, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", m.cmd.Process.Pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []region
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var r region
		var mode string
		if _, err := fmt.Sscanf(sc.Text(), "%x-%x %s", &r.from, &r.to, &mode); err != nil {
			continue
		}
		if strings.HasPrefix(mode, "rw") && r.to-r.from < 256<<20 {
			out = append(out, r)
		}
	}
	return out, sc.Err()
}
