package record

import (
	"time"

	"nativ/internal/job"
)

// A RunSummary is a run in the history: what lists, searches and courses over time
// need without reading its record. It is computed from the record, but for
// FromFile, Tags and Note, and can be computed again.
type RunSummary struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started,omitzero"`
	// Origin is one of the Origin constants.
	Origin string `json:"origin"`
	// FromFile is true where the run was read in from a file, and may be one of
	// another machine.
	FromFile bool `json:"from_file,omitempty"`
	// Tool is the name and version of what measured.
	Tool     string   `json:"tool"`
	Preset   string   `json:"preset,omitempty"`
	Places   []string `json:"places"`
	Complete bool     `json:"complete"`
	// What else the numbers may depend on; "" where the record does not tell.
	Kernel     string `json:"kernel,omitempty"`
	OS         string `json:"os,omitempty"`
	PVE        string `json:"pve,omitempty"`
	CPU        string `json:"cpu,omitempty"`
	Filesystem string `json:"filesystem,omitempty"` // "ext4 lvm", the type and the layers down to the drive
	// Drives are the ends of the storage stack, in the record's order.
	Drives  []DriveSummary `json:"drives,omitempty"`
	Numbers []Number       `json:"numbers,omitempty"`
	// Tags and Note are the user's.
	Tags []string `json:"tags,omitempty"`
	Note string   `json:"note,omitempty"`
}

// Where a run of the history comes from.
const (
	OriginMeasured  = "measured"
	OriginImported  = "imported"  // another tool measured; see Record.Import
	OriginSimulated = "simulated" // nothing was measured; see Record.Simulated
)

// A DriveSummary is a drive in a run of the history.
type DriveSummary struct {
	// Key tells drives apart: the serial number, or where there is none the
	// kernel's name and the size.
	Key      string `json:"key"`
	Name     string `json:"name"`
	Model    string `json:"model,omitempty"`
	Serial   string `json:"serial,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	Size     int64  `json:"size_bytes"`
	// LinkMTs and LinkWidth are those of its PCIe link; nil where there is none.
	LinkMTs   *int `json:"link_mts,omitempty"`
	LinkWidth *int `json:"link_width,omitempty"`
	// From the run's last health log, nil where there was none; see Health.
	PercentageUsed *int64 `json:"percentage_used,omitempty"`
	AvailableSpare *int64 `json:"available_spare_percent,omitempty"`
	SpareThreshold *int64 `json:"spare_threshold_percent,omitempty"`
	WrittenBytes   *int64 `json:"written_bytes,omitempty"`
	PowerOnHours   *int64 `json:"power_on_hours,omitempty"`
	MediaErrors    *int64 `json:"media_errors,omitempty"`
}

// A Number is what one phase came to in one place of a run.
type Number struct {
	Setting Setting `json:"setting"`
	// Passes are those behind the numbers, Planned those of the plan.
	Passes  int `json:"passes"`
	Planned int `json:"planned"`
	// As in analysis.Place; nil where that cannot say.
	IOPS        *float64 `json:"iops,omitempty"`
	BytesPerSec *float64 `json:"bytes_per_second,omitempty"`
	P50NS       *int64   `json:"p50_ns,omitempty"`
	P99NS       *int64   `json:"p99_ns,omitempty"`
	P999NS      *int64   `json:"p99_9_ns,omitempty"`
}

// A Setting is what must be equal for numbers of two runs to be compared.
type Setting struct {
	// Phase is without what may differ from run to run: seed and byte limit.
	Phase job.Phase `json:"phase"`
	Place string    `json:"place"`
	// FileSize is that of the test file in bytes.
	FileSize int64 `json:"file_size_bytes"`
	// Engine is the I/O engine that was asked for.
	Engine string `json:"engine,omitempty"`
	// CPUs is their number and Memory the limit in bytes where the place has its
	// own; 0 where not.
	CPUs   int   `json:"cpus,omitempty"`
	Memory int64 `json:"memory_bytes,omitempty"`
}
