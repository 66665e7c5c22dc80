package job

import "slices"

// The names themselves are in fionames.go, which a test writes from the
// installed fio with -update.

// fioNames returns every name of an option that fio takes in a job, aliases and
// the options of its I/O engines included.
func fioNames() []string {
	return slices.Concat(fioValued, fioBare, fioEngineOptions, fioOldOptions)
}

// knownToFio reports whether fio takes an option of that name in a job.
func knownToFio(name string) bool { return slices.Contains(fioNames(), name) }

// bareInFio reports whether fio's option may stand without a value, so that on
// the command line the next argument is not its value.
func bareInFio(name string) bool { return slices.Contains(fioBare, name) }

// fioOldOptions are those that fio 3.33 takes without listing them (deprecated
// ones and those of its profiles).
var fioOldOptions = []string{
	"bs_is_seq_rand", "device-names", "flow_watermark", "iomem_align", "large-block-op-kbytes",
	"percentage_sequential", "prep", "read-req-num-512-blocks", "rwmixcycle", "softrandommap", "test-duration",
	"threads-per-queue", "verify_async_cpus", "verifysort", "verifysort_nr",
}
