package audit

// rules are all rules, in the order in which they are explained: what cannot be
// true, what does not show what it claims, and what a reader should know.
var rules []Rule

func init() { // the checks look up rules themselves
	rules = []Rule{
		{ID: "bandwidth-iops", Severities: []Severity{Error}, Cases: []string{""}, check: bandwidthIOPS},
		{ID: "units", Severities: []Severity{Error}, Cases: []string{"binary", "latency"}, check: units},
		{ID: "claim-table", Severities: []Severity{Error, Warning}, Cases: []string{"other-test", "nowhere", "almost-none"}, check: claimTable},
		{ID: "above-link", Severities: []Severity{Error}, Cases: []string{""}, check: aboveLink},
		{ID: "above-drive", Severities: []Severity{Warning, Info}, Cases: []string{"bandwidth", "iops"}, check: aboveDrive},
		{ID: "littles-law", Severities: []Severity{Error}, Cases: []string{""}, check: littlesLaw},
		{ID: "percentiles", Severities: []Severity{Error}, Cases: []string{"order", "above-max", "below-min", "mean"}, check: percentiles},
		{ID: "job-errors", Severities: []Severity{Error}, Cases: []string{""}, check: oddity("job-error", Error)},
		{ID: "above-cctemp", Severities: []Severity{Warning}, Cases: []string{"table", "record"}, check: aboveCCTEMP},
		{ID: "same-offsets", Severities: []Severity{Warning}, Cases: []string{""}, check: sameOffsets},
		{ID: "cpus-differ", Severities: []Severity{Warning}, Cases: []string{""}, check: cpusDiffer},
		{ID: "settings-differ", Severities: []Severity{Warning}, Cases: []string{""}, check: settingsDiffer},
		{ID: "buffered", Severities: []Severity{Warning}, Cases: []string{"option", "default"}, check: buffered},
		{ID: "cache-answers", Severities: []Severity{Warning}, Cases: []string{"loop", "arc", "counted"}, check: cacheAnswers},
		{ID: "smaller-than-memory", Severities: []Severity{Warning}, Cases: []string{""}, check: smallerThanMemory},
		{ID: "iodepth-sync", Severities: []Severity{Warning}, Cases: []string{""}, check: iodepthSync},
		{ID: "easy-data", Severities: []Severity{Warning}, Cases: []string{"zero", "compress", "dedupe", "pattern"}, check: easyData},
		{ID: "read-slower", Severities: []Severity{Warning, Info}, Cases: []string{""}, check: readSlower},
		{ID: "cpu-saturated", Severities: []Severity{Warning}, Cases: []string{""}, check: cpuSaturated},
		{ID: "rate-of-one", Severities: []Severity{Warning}, Cases: []string{""}, check: oddity("rate-of-one", Warning)},
		{ID: "group-sums", Severities: []Severity{Warning}, Cases: []string{""}, check: oddity("group-sums", Warning)},
		{ID: "incomplete", Severities: []Severity{Warning}, Cases: []string{""}, check: incomplete},
		{ID: "too-short", Severities: []Severity{Warning, Info}, Cases: []string{"writes", "reads"}, check: tooShort},
		{ID: "single-run", Severities: []Severity{Warning, Info}, Cases: []string{"table", "runs"}, check: singleRun},
		{ID: "maximum", Severities: []Severity{Warning}, Cases: []string{""}, check: maximum},
		{ID: "unwritten", Severities: []Severity{Warning, Info}, Cases: []string{"device", "not-told"}, check: unwritten},
		{ID: "simulated", Severities: []Severity{Info}, Cases: []string{""}, check: simulated},
	}
}
