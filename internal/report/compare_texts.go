package report

import (
	"nativ/internal/compare"
	"nativ/internal/record"
)

// compareMessages are the texts of comparisons.
type compareMessages struct {
	title, against, published, change, differences, noDifference string
	onlyKnown, anotherDrive                                      string
	test, percentOfA, latency                                    string
	legendRatio, askedFor, sideSays                              string
	latencyKind, ratesContradict                                 string
	refused, anyway, onlyIn, reasonText                          string
	differentBy, withinRun                                       string
	hit, hitMedian, hitSure, hitUnsure, unchecked, noHit         string

	legend   map[string]string // by the signs of the table
	verdicts map[string]string // sentences, by judgement, or by why there is none
	differs  map[string]string // by compare's Diff constants
	values   map[string]string // words of differences
	places   map[string]string
	reasons  map[string]string // by compare's Reason constants

	good, measured, ofLink, ofMaker, goodNote, goodTables, beforeFall, withThrottling, sourceRow, publication string
	linkRow, linkLimit, linkOfDrive, makerRow, maker, enduranceRow, endurance                                 string
	enduranceUsed, source                                                                                     string
	rankTitle, mixedSources, input, percentOfMedian, score                                                    string
	outlier, outliers, outlierIs, missingIn, rule, noRule                                                     string
	rankNote, alone, aloneIn, furtherOnes                                                                     string
}

var compareEnglish = compareMessages{
	title: "nativ compare", against: "%s against %s", published: "published, not measured by nativ", publication: "Published",
	change: "%s → %s", differences: "Differences", noDifference: "none in what was recorded",
	onlyKnown: "Known of %s only", anotherDrive: "another one (by its serial number)",
	test: "Test", percentOfA: "% of A", latency: "Latency",
	legendRatio: "% of A: B in percent of A, of geometric means of the passes, of IOPS where nothing else stands there. Of a latency more is slower.",
	askedFor:    "the comparison means nothing and is shown because of --anyway.", sideSays: "%s: %s",
	latencyKind:     "latencies are lat on one side and clat, without the time of submission, on the other; they are not compared.",
	ratesContradict: "IOPS and bandwidth contradict each other: %[1]s × %[2]s are %[3]s\u00a0MiB/s, printed are %[4]s. One of them is wrong.",
	refused:         "Not compared: %s (%s).", anyway: "Such a comparison means nothing. To see the numbers nonetheless: --anyway",
	onlyIn: "Only in %s: %s.", reasonText: "%s %s against %s",
	differentBy: "%s\u00a0%s\u00a0%% of A [%s]",
	withinRun:   "The intervals are of the passes of these runs: what differs from run to run (temperature, fill level, layout of the file) is not in them.",
	hit:         "Condition %s is met: %s is at %s\u00a0%% of A.", hitMedian: "Condition %s is met: %s is at %s\u00a0%% of the median.", hitSure: "(The whole 95\u00a0% interval meets it.)", hitUnsure: "(The 95\u00a0% interval reaches beyond the limit.)",
	unchecked: "Condition %s could not be checked: there is no such number.", noHit: "No condition is met.",
	legend: map[string]string{
		"":  "Without a sign: different.",
		"≈": "≈ Within 3\u00a0% (p50 5\u00a0%, p99 10\u00a0%) or the margins of the run: equivalent, or different but negligible.",
		"~": "~ Nothing is proven: single values, or chance may do it as the passes scatter.",
	},
	verdicts: map[string]string{
		"equivalent":                 "equivalent within the margin: %s",
		"different":                  "different: %s",
		"negligible":                 "different, but by less than matters: %s",
		"inconclusive":               "neither a difference nor its absence is proven: %s",
		string(compare.SingleValues): "single values, no interval: neither side was measured twice, so that what is chance cannot be told",
		string(compare.OneSideOnce):  "one side was measured once, so that there is no interval and what is chance cannot be told",
		string(compare.MeansNothing): "no verdict: it means nothing to compare what was measured in different ways",
		string(compare.VoidRounds):   "no verdict: every round is void, because heat, errors or a hot start hit the places unequally",
		string(compare.Unknown):      "no comparison: a side has no number",
		string(compare.NoScatter):    "no interval: the passes agree to the last I/O, as measured ones never do",
	},
	differs: map[string]string{
		compare.DiffSource: "Numbers", compare.DiffStatistic: "Figures", compare.DiffTool: "Program", compare.DiffEngine: "Engine",
		compare.DiffPlace: "Place", compare.DiffKernel: "Kernel", compare.DiffOS: "OS", compare.DiffPVE: "Proxmox VE", compare.DiffCPU: "CPU",
		compare.DiffCPUs: "CPUs", compare.DiffGovernor: "Governor", compare.DiffMemory: "Memory", compare.DiffLimit: "Memory limit",
		compare.DiffBoard: "Board", compare.DiffBIOS: "BIOS", compare.DiffVirtual: "Hypervisor", compare.DiffModel: "Model",
		compare.DiffDrive: "Drive", compare.DiffFirmware: "Firmware", compare.DiffSize: "Drive size", compare.DiffLink: "PCIe",
		compare.DiffScheduler: "Scheduler", compare.DiffWriteCache: "Write cache", compare.DiffFS: "Filesystem", compare.DiffMount: "Mount options",
		compare.DiffStack: "Stack", compare.DiffFile: "Test file", compare.DiffUsed: "In use", compare.DiffPreset: "Preset", compare.DiffIdle: "Idle temperature",
		compare.DiffTable: "Table", compare.DiffRuntime: "Runtime", compare.DiffRegions: "Regions", compare.DiffMap: "Random map", compare.DiffRamp: "Ramp time",
	},
	values: map[string]string{
		compare.SourceMeasured: "measured", compare.SourceSimulated: "SIMULATED", compare.SourceImported: "imported", compare.SourcePublished: "published",
		record.StatisticMean: "means", record.StatisticMaximum: "maxima", "split": "one for each job", "shared": "one for all jobs",
	},
	places: map[string]string{record.PlaceHost: "host", record.PlacePinned: "host pinned to the container's CPUs", record.PlaceLXC: "LXC", record.PlacePVE: "LXC (Proxmox)", record.PlaceImported: "unknown"},
	reasons: map[string]string{
		compare.ReasonMode: "mode", compare.ReasonBlockSize: "block size", compare.ReasonDirect: "page cache against drive, direct=",
		compare.ReasonDepth: "iodepth", compare.ReasonJobs: "numjobs", compare.ReasonSync: "syncs", compare.ReasonMix: "rwmixread",
		compare.ReasonRate: "limits", compare.ReasonData: "data", compare.ReasonUnknown: "a side does not tell what it did",
		compare.ReasonCache: "a cache answered in %s", compare.ReasonSimulated: "%s is simulated, nothing of it was measured",
	},

	good: "Is that good?", measured: "measured", ofLink: "link", ofMaker: "maker",
	beforeFall: "* Before it fell by heat or because the SLC cache was full.", withThrottling: "† With times in which the drive throttled by heat.",
	goodNote: "In percent of what the link's encoding lets through, of which packets take some, and of the maker's \"up to\", where 32 I/Os or more are in flight.", goodTables: "The other columns: in percent of published tables, which nativ did not measure.",
	linkRow: "Link", linkLimit: "%s, at most %s\u00a0MB/s", linkOfDrive: "%s of the drive, at most %s\u00a0MB/s; that of its slot is unknown",
	makerRow: "Maker", maker: "%[1]s %[2]s: read %[3]s, write %[4]s\u00a0MB/s; random 4K read %[5]s, write %[6]s\u00a0IOPS", sourceRow: "Source",
	enduranceRow: "Endurance", endurance: "%s\u00a0TBW", enduranceUsed: ", %s written so far (%s\u00a0%%)", source: "%s, found in %s",

	rankTitle: "nativ compare: %s inputs", mixedSources: "Numbers of different kinds stand side by side: %s.",
	input: "Input", percentOfMedian: "% of median", score: "Score", outlier: "outlier",
	outliers: "Outliers in %s: %s.", outlierIs: "%s (%s\u00a0%% of the median)", missingIn: "Inputs without such a test: %s.",
	rule:     "Outlier: 0.6745 × |x − median| / MAD of the logarithms is above %s, and the difference to the median above %s\u00a0%%. About one list in ten has one by chance.",
	noRule:   "Outliers are named from %s inputs on, and where more than half differ: fewer do not tell what is usual.",
	rankNote: "Ranks rest on means and say nothing of chance: compare two inputs with repetitions for that. Settings and systems may differ.",
	alone:    "Without partner: %s.", aloneIn: "%s (%s)", furtherOnes: "%s more",
}

var compareGerman = compareMessages{
	title: "nativ Vergleich", against: "%s gegen %s", published: "veröffentlicht, nicht von nativ gemessen", publication: "Publikation",
	change: "%s → %s", differences: "Unterschiede", noDifference: "keine in dem, was erfasst ist",
	onlyKnown: "Nur von %s bekannt", anotherDrive: "ein anderes (nach der Seriennummer)",
	test: "Test", percentOfA: "% von A", latency: "Latenz",
	legendRatio: "% von A: B in Prozent von A, aus geometrischen Mitteln der Durchgänge, von IOPS, wo nichts anderes steht. Bei einer Latenz heißt mehr: langsamer.",
	askedFor:    "Der Vergleich sagt nichts aus und steht nur wegen --anyway hier.", sideSays: "%s: %s",
	latencyKind:     "Latenzen sind auf einer Seite lat und auf der anderen clat, ohne die Zeit des Absendens; sie werden nicht verglichen.",
	ratesContradict: "IOPS und Bandbreite widersprechen sich: %[1]s × %[2]s sind %[3]s\u00a0MiB/s, gedruckt sind %[4]s. Eines davon ist falsch.",
	refused:         "Nicht verglichen: %s (%s).", anyway: "So ein Vergleich sagt nichts aus. Um die Zahlen trotzdem zu sehen: --anyway",
	onlyIn: "Nur in %s: %s.", reasonText: "%s %s gegen %s",
	differentBy: "%s\u00a0%s\u00a0%% von A [%s]",
	withinRun:   "Die Intervalle sind die der Durchgänge dieser Läufe: Was sich von Lauf zu Lauf ändert (Temperatur, Füllstand, Lage der Datei), steckt nicht darin.",
	hit:         "Bedingung %s ist erfüllt: %s liegt bei %s\u00a0%% von A.", hitMedian: "Bedingung %s ist erfüllt: %s liegt bei %s\u00a0%% des Medians.", hitSure: "(Das ganze 95-%-Intervall erfüllt sie.)", hitUnsure: "(Das 95-%-Intervall reicht über die Grenze.)",
	unchecked: "Bedingung %s ließ sich nicht prüfen: eine solche Zahl gibt es nicht.", noHit: "Keine Bedingung ist erfüllt.",
	legend: map[string]string{
		"":  "Ohne Zeichen: verschieden.",
		"≈": "≈ Innerhalb von 3\u00a0% (p50 5\u00a0%, p99 10\u00a0%) oder der Margen des Laufs: gleichwertig, oder verschieden, aber belanglos.",
		"~": "~ Nichts ist belegt: Einzelwerte, oder der Zufall kann es sein, so sehr streuen die Durchgänge.",
	},
	verdicts: map[string]string{
		"equivalent":                 "gleichwertig innerhalb der Marge: %s",
		"different":                  "verschieden: %s",
		"negligible":                 "verschieden, aber um weniger, als zählt: %s",
		"inconclusive":               "weder ein Unterschied noch sein Fehlen ist belegt: %s",
		string(compare.SingleValues): "Einzelwerte, kein Intervall: Keine Seite wurde zweimal gemessen, deshalb ist nicht zu sagen, was Zufall ist",
		string(compare.OneSideOnce):  "eine Seite wurde nur einmal gemessen, deshalb gibt es kein Intervall, und was Zufall ist, ist nicht zu sagen",
		string(compare.MeansNothing): "kein Urteil: Was verschieden gemessen wurde, zu vergleichen, sagt nichts aus",
		string(compare.VoidRounds):   "kein Urteil: Jede Runde ist ungültig, weil Hitze, Fehler oder ein heißer Beginn die Orte verschieden trafen",
		string(compare.Unknown):      "kein Vergleich: Eine Seite hat keine Zahl",
		string(compare.NoScatter):    "kein Intervall: Die Durchgänge stimmen bis auf die letzte I/O überein, was gemessene nie tun",
	},
	differs: map[string]string{
		compare.DiffSource: "Zahlen", compare.DiffStatistic: "Angaben", compare.DiffTool: "Programm", compare.DiffEngine: "Engine",
		compare.DiffPlace: "Ort", compare.DiffKernel: "Kernel", compare.DiffOS: "Betriebssystem", compare.DiffPVE: "Proxmox VE", compare.DiffCPU: "CPU",
		compare.DiffCPUs: "CPUs", compare.DiffGovernor: "Governor", compare.DiffMemory: "Arbeitsspeicher", compare.DiffLimit: "Speichergrenze",
		compare.DiffBoard: "Mainboard", compare.DiffBIOS: "BIOS", compare.DiffVirtual: "Hypervisor", compare.DiffModel: "Modell",
		compare.DiffDrive: "Laufwerk", compare.DiffFirmware: "Firmware", compare.DiffSize: "Größe", compare.DiffLink: "PCIe",
		compare.DiffScheduler: "Scheduler", compare.DiffWriteCache: "Schreibcache", compare.DiffFS: "Dateisystem", compare.DiffMount: "Mount-Optionen",
		compare.DiffStack: "Schichten", compare.DiffFile: "Testdatei", compare.DiffUsed: "Belegt", compare.DiffPreset: "Preset", compare.DiffIdle: "Temperatur im Leerlauf",
		compare.DiffTable: "Tabelle", compare.DiffRuntime: "Laufzeit", compare.DiffRegions: "Bereiche", compare.DiffMap: "Random Map", compare.DiffRamp: "Anlaufzeit",
	},
	values: map[string]string{
		compare.SourceMeasured: "gemessen", compare.SourceSimulated: "SIMULIERT", compare.SourceImported: "importiert", compare.SourcePublished: "veröffentlicht",
		record.StatisticMean: "Mittelwerte", record.StatisticMaximum: "Höchstwerte", "split": "je Job einer", "shared": "einer für alle Jobs",
	},
	places: map[string]string{record.PlaceHost: "Host", record.PlacePinned: "Host auf den CPUs des Containers", record.PlaceLXC: "LXC", record.PlacePVE: "LXC (Proxmox)", record.PlaceImported: "unbekannt"},
	reasons: map[string]string{
		compare.ReasonMode: "Modus", compare.ReasonBlockSize: "Blockgröße", compare.ReasonDirect: "Page-Cache gegen Laufwerk, direct=",
		compare.ReasonDepth: "iodepth", compare.ReasonJobs: "numjobs", compare.ReasonSync: "Syncs", compare.ReasonMix: "rwmixread",
		compare.ReasonRate: "Begrenzungen", compare.ReasonData: "Daten", compare.ReasonUnknown: "eine Seite sagt nicht, was sie tat",
		compare.ReasonCache: "in %s antwortete ein Cache", compare.ReasonSimulated: "%s ist simuliert, nichts davon wurde gemessen",
	},

	good: "Ist das gut?", measured: "gemessen", ofLink: "Link", ofMaker: "Herst.",
	beforeFall: "* Bevor es wegen Hitze oder des vollen SLC-Caches fiel.", withThrottling: "† Mit Zeiten, in denen das Laufwerk wegen Hitze drosselte.",
	goodNote: "In Prozent dessen, was die Kodierung des Links durchlässt, wovon Pakete etwas brauchen, und vom „bis zu“ des Herstellers, wo mindestens 32 I/Os unterwegs sind.", goodTables: "Die weiteren Spalten: in Prozent veröffentlichter Tabellen, die nativ nicht gemessen hat.",
	linkRow: "Link", linkLimit: "%s, höchstens %s\u00a0MB/s", linkOfDrive: "%s des Laufwerks, höchstens %s\u00a0MB/s; der seines Steckplatzes ist unbekannt",
	makerRow: "Hersteller", maker: "%[1]s %[2]s: lesen %[3]s, schreiben %[4]s\u00a0MB/s; zufällig 4K lesen %[5]s, schreiben %[6]s\u00a0IOPS", sourceRow: "Quelle",
	enduranceRow: "Haltbarkeit", endurance: "%s\u00a0TBW", enduranceUsed: ", bisher geschrieben %s (%s\u00a0%%)", source: "%s, gefunden in %s",

	rankTitle: "nativ Vergleich: %s Eingaben", mixedSources: "Zahlen verschiedener Art stehen nebeneinander: %s.",
	input: "Eingabe", percentOfMedian: "% v. Median", score: "Score", outlier: "Ausreißer",
	outliers: "Ausreißer bei %s: %s.", outlierIs: "%s (%s\u00a0%% des Medians)", missingIn: "Eingaben ohne einen solchen Test: %s.",
	rule:     "Ausreißer: 0,6745 × |x − Median| / MAD der Logarithmen liegt über %s und der Unterschied zum Median über %s\u00a0%%. Etwa eine Liste von zehn hat durch Zufall einen.",
	noRule:   "Ausreißer werden ab %s Eingaben genannt und wo sich mehr als die Hälfte unterscheidet: weniger sagen nicht, was üblich ist.",
	rankNote: "Ränge beruhen auf Mitteln und sagen nichts über Zufall: dafür zwei Eingaben mit Wiederholungen vergleichen. Einstellungen und Systeme können sich unterscheiden.",
	alone:    "Ohne Partner: %s.", aloneIn: "%s (%s)", furtherOnes: "%s weitere",
}
