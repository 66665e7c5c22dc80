package report

import (
	"strings"

	"golang.org/x/text/language"
)

// Langs are the languages that a report can have.
func Langs() []string { return []string{"de", "en"} }

// LangFromEnv returns the language that the environment asks for, German or
// English: the first of LC_ALL, LC_MESSAGES and LANG that is set decides, as in
// POSIX (XBD 8.2).
func LangFromEnv(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		v := getenv(name)
		if v == "" {
			continue
		}
		l, _, _ := strings.Cut(v, ".")
		l, _, _ = strings.Cut(l, "@")
		if l, _, _ = strings.Cut(l, "_"); l == "de" {
			return "de"
		}
		return "en"
	}
	return "en"
}

// messages are all texts in one language. They take finished strings only, so
// that numbers are formatted in one place: %s, or %[n]s where the languages
// order them differently.
type messages struct {
	tag      language.Tag
	date     string // layout of package time
	and      string
	everyone string // names the other language and how to get it

	// Words.
	unknown, none, yes, no, on, off string
	oneCPU, nCPUs                   string
	phase                           map[kind]string
	inPhase                         map[kind]string // "in random reads"
	inOther                         string          // "in %s", the name of a phase
	place                           map[string]string
	layer                           map[string]string // kinds of layers in a stack
	layerOn                         string            // "ext4 on LVM"
	core, cores                     map[string]string // by CPU type: one, many
	neighbour                       map[string]string
	fail                            map[string]string

	// The head.
	title, titleOther                                    string
	drive, dir, plan, container, writes, caution         string
	virtualDrive, noDrive, moreDrives                    string
	free                                                 string
	planText, planTook                                   string
	oneTest, nTests, onePlace, nPlaces                   string
	about, minutes, minuteRange                          string
	siblings, memory, noMemory, privileged, unprivileged string
	writesAtMost, oneUses, manyUse, oneUsed, manyUsed    string
	question                                             string

	// The tables of the short report.
	means, loss, total, cpus, containerPart        string
	others, allTests, everyTest, between, alike    string
	legend, legendCache, legendPasses, legendGain  string
	legendLoad, legendWrites, legendFew            string
	temperature, noTemperature, written, cleaned   string
	notCleaned, cleanPending                       string
	verdictWord, last, details, precise, filesWord string

	// Live lines.
	left, prefill string

	verdict      verdictMessages
	rounds       roundsMessages
	imported     importMessages
	simulation   simulationTexts
	jobs         jobsMessages
	latWords     latencyMessages
	plans        planMessages
	deviceWords  deviceMessages
	storageWords storageMessages
	pve          pveMessages
	info         infoMessages
	history      historyMessages
	watch        watchMessages
	compare      compareMessages
	drops        dropMessages
	meanwhile    meanwhileMessages
	article      articleMessages
	charts       chartMessages
	warn         map[string]string // by code; some have variants, "code/variant"
	detail       detailMessages
}

type verdictMessages struct {
	incomplete, incompletePasses, network, memory, cache, caches string
	storage                                                      map[string]string // by the code of the warning

	nothingMeasured, noComparison, hostOnly, noHost, capped           string
	noLoss, noLossOne, noLossCPUs, noLossCPUsOne, complete, noDeficit string
	deficitSmall, deficitSpread, deficitCache                         string
	deficitPasses, deficitLoad, deficitWrites, deficitFew             string
	noDeficitCPUs, brief                                              string
	reaches                                                           string
	nearlyAll, mostly                                                 string
	causeLimit, causeBusy, causeUnknown                               string
	containerNotShown                                                 string
	containerOne, containerMany, ofTests                              string
	cpusToo, cpusNot                                                  string
	unsplit, notSeparable, notSeparableAll                            string
	hostCPUs, totalNotShown, containerNotMeasured                     string
	faster, fasterContainer, fasterCPUs, fasterWhy                    string
}

type detailMessages struct {
	throughput, latency, effort, system, storage, containerHead, method, sensors, notes, missing string

	mode, blockSize, maxBandwidth, maxIOPS                  string
	place, user, kernel, busy, device, passes, spread       string
	throughputNote, latencyNote, effortNote                 string
	os, kernelRow, cpu, ram, board, hypervisor, cgroup      string
	governor                                                string
	filesystem, space, stack, driveRow, file                string
	firmware, scheduler, writeCache, logicalBlock, counters string
	fileText, spaceText                                     string
	runtime, idmap, apparmor, seccomp, cpusRow, memoryRow   string
	groupRow, controllers                                   string
	order, engine, phases, seed, maxprocs                   string
	mergedText, mergedNote                                  string
	calibration, calibrationText                            string
	prefill, prefillText, writtenRow, writtenText, rules    string
	rulesText, run, tool, commandHead, unreadable           string
	sensorText, missingText, below                          string
	kinds                                                   map[string]string // of what the sampler reads
	interrupted, placeLost, prefillFailed, passFailed       string
}

// A kind is a kind of phase that people know by a name of its own.
type kind string

const (
	kindRandRead  kind = "randread"
	kindRandWrite kind = "randwrite"
	kindRead      kind = "read"
	kindWrite     kind = "write"
	kindSync      kind = "syncwrite"
)

// catalogue returns the texts in lang; English where there are none.
func catalogue(lang string) *messages {
	if lang == "de" {
		return &german
	}
	return &english
}
