package record

// FormatPublished is the Import.Format of a table that somebody published.
const FormatPublished = "published-table"

// A Publication says what table a record with FormatPublished is.
type Publication struct {
	// Title and Note are the publication's, Table is its name for the table.
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Table string `json:"table"`
	// Statistic is one of the Statistic constants.
	Statistic string `json:"statistic"`
	// Facts of the machine, as published.
	Facts []Option `json:"facts,omitempty"`
}

// What the figures of a published table are.
const (
	StatisticMean    = "mean"    // over the time of the pass
	StatisticMaximum = "maximum" // the best moment, of unknown length
)

// Published are the rates of one row of a published table. A pass that has them
// has no Outcome: how many I/Os it did and how long it took was not printed.
type Published struct {
	IOPS        *float64 `json:"iops,omitempty"`
	BytesPerSec *float64 `json:"bytes_per_s,omitempty"`
	// FromMC is the temperature from which the row holds, in millidegrees
	// Celsius; nil where the table has none.
	FromMC *int64 `json:"from_mc,omitempty"`
}
