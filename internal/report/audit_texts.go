package report

// A ruleText words a rule of package audit. Sentences hold values as {name:form};
// see auditForms.
type ruleText struct {
	// title names the rule, why explains it, do says what helps.
	title, why, do string
	// cases are the sentences of its findings, by case.
	cases map[string]string
}

var auditEN = map[string]ruleText{
	"bandwidth-iops": {
		"bandwidth is not IOPS times block size",
		"Every I/O of a test moves one block, so that bandwidth, IOPS and block size cannot be independent. Where they disagree by more than rounding, one of them is a misprint, or they are of different moments.",
		"Look up both in the raw output, and print what it says.",
		map[string]string{"": "{side:s}, {test:s}: {iops:n} IOPS × {bs:bs} are {product:mib}, and not {bandwidth:mib} ({off:signed})."},
	},
	"units": {
		"units are mixed up",
		"MB are 10^6 bytes and MiB 2^20, fio counts latencies in ns, µs or ms as it likes. A figure that is off by exactly such a factor has the wrong unit.",
		"Correct the unit.",
		map[string]string{
			"binary":  "{side:s}, {test:s}: {bandwidth:mib} are {factor:factor} times the {product:mib} that IOPS and block size give: bytes, bits, or decimal and binary units.",
			"latency": "{side:s}, {test:s}: {iops:n} IOPS with a latency of {lat:time} and at most {depth:n} I/Os in flight are only possible if the latency is in another unit (a factor of {factor:factor}).",
		},
	},
	"claim-table": {
		"the text says something else than the table",
		"A ratio in a sentence must be that of its rows.",
		"Correct the sentence, or the row.",
		map[string]string{
			"other-test":  "“{claim:s}”: the table gives {table:pct} for {test:s}. {claimed:pct} are those of {other:s} ({otherratio:pct1}).",
			"nowhere":     "“{claim:s}”: no row that it can be about gives {claimed:pct}; {test:s} gives {table:pct1}.",
			"almost-none": "“{claim:s}”: {test:s} loses {loss:pct}.",
		},
	},
	"above-link": {
		"more than the link carries",
		"Nothing gets from a drive faster than its PCIe link.",
		"Look for a cache that answers, or for jobs that share blocks.",
		map[string]string{"": "{side:s}, {test:s}: {bandwidth:gb} through a link ({linkname:s}) that carries {link:gb} at the most."},
	},
	"above-drive": {
		"more than the maker promises",
		"Makers print what their drive reaches at its best. More is possible, and more often it is a cache that answers.",
		"Check direct I/O, the size of the file, and whether jobs share blocks.",
		map[string]string{
			"bandwidth": "{side:s}, {test:s}: {bandwidth:gb}, where the maker says up to {rated:gb}.",
			"iops":      "{side:s}, {test:s}: {iops:n} IOPS, where the maker says up to {ratediops:n}.",
		},
	},
	"littles-law": {
		"more I/Os in flight than there can be",
		"Little's law: IOPS times mean latency is how many I/Os are in flight on average, which cannot be more than iodepth times numjobs.",
		"Check whether both figures are of the same run, and their units.",
		map[string]string{"": "{side:s}, {test:s}: {iops:n} IOPS × {lat:time} are {inflight:n} I/Os in flight; iodepth {iodepth:n} × numjobs {numjobs:n} allow {depth:n}."},
	},
	"percentiles": {
		"percentiles that cannot be",
		"A higher percentile is never lower, none is beyond minimum or maximum, and neither is the mean.",
		"Check whether they are of the same run and of the same kind of latency.",
		map[string]string{
			"order":     "{side:s}, {test:s}: p{p:num} of {kind:s} is {b:time}, less than the {a:time} of the percentile before.",
			"above-max": "{side:s}, {test:s}: p{p:num} of {kind:s} is {a:time}, beyond the maximum of {b:time}.",
			"below-min": "{side:s}, {test:s}: p{p:num} of {kind:s} is {a:time}, below the minimum of {b:time}.",
			"mean":      "{side:s}, {test:s}: the mean of {kind:s}, {mean:time}, is not between {min:time} and {max:time}.",
		},
	},
	"job-errors": {
		"a job ended with an error",
		"What a job measured before it failed is not what it was asked to measure.",
		"Read fio's messages, mend the cause and measure again.",
		map[string]string{"": "At least one job ended with an error. {detail:s}"},
	},
	"above-cctemp": {
		"hotter than the critical temperature",
		"CCTEMP is where the drive itself calls its composite temperature critical; above it it counts minutes and slows down or shuts off. A table with higher temperatures was read from another sensor, or the drive's own figures are wrong.",
		"Name the sensor, and show the drive's counts of warning and critical time.",
		map[string]string{
			"table":  "{rows:n} rows have temperatures of {least:c} to {most:c}; the drive's CCTEMP is {cctemp:c}. No time above it is shown.",
			"record": "The composite temperature rose to {temperature:c}, above the CCTEMP of {cctemp:c}, and the drive's count of critical time did not rise.",
		},
	},
	"same-offsets": {
		"sequential jobs on the same blocks",
		"Several jobs of fio that read or write in order all begin at the same offset. One of them asks the drive; caches answer the others, or the drive writes the same blocks again and again.",
		"Give each job a part of its own: offset_increment with size (percentages work), or numjobs=1.",
		map[string]string{"": "{tests:s}: {numjobs:n} jobs walk through the same blocks."},
	},
	"cpus-differ": {
		"the sides have different numbers of CPUs",
		"Where a container has fewer CPUs than the host, a loss may be that of the CPUs. Only the host on the same CPUs tells.",
		"Measure the host on the container's CPUs, too: nativ bench does.",
		map[string]string{"": "{a:s} had {host:n} CPUs, {b:s} {container:n}: the loss cannot be put down to the container."},
	},
	"settings-differ": {
		"the sides were measured with different settings",
		"A difference is then that of the settings as much as that of the sides.",
		"Measure both sides alike.",
		map[string]string{"": "{test:s}: {difference:s}."},
	},
	"buffered": {
		"buffered I/O: the page cache answers",
		"Without direct=1 the kernel's page cache takes the I/O, and memory is measured as much as the drive.",
		"Set direct=1, or measure with fsync what an application sees.",
		map[string]string{
			"option":  "{tests:s}: direct=0.",
			"default": "{tests:s}: direct is not set, and fio's default is 0.",
		},
	},
	"cache-answers": {
		"memory answers instead of the drive",
		"A loop device without direct I/O goes through the host's page cache, ZFS through its ARC. What they answer never reaches the drive.",
		"See what the drive itself moved, by its counters; name the figure that of the storage, and not that of the drive.",
		map[string]string{
			"loop":    "{tests:s}: the file lies on a loop device without direct I/O.",
			"arc":     "{tests:s}: the file lies on ZFS, whose ARC answers reads.",
			"counted": "{tests:s}: the drive moved only {share:pct} of what was read.",
		},
	},
	"smaller-than-memory": {
		"the file fits into memory",
		"Where a cache can answer, a file that is smaller than the memory is soon all in it.",
		"Use direct I/O, or a file of at least twice the memory.",
		map[string]string{"": "{tests:s}: {size:bin} are read through a cache, on a machine with {memory:bin}."},
	},
	"iodepth-sync": {
		"iodepth without an asynchronous engine",
		"Engines that wait for each I/O have one in flight, whatever iodepth says.",
		"Use ioengine=io_uring or libaio, or report iodepth 1.",
		map[string]string{"": "{tests:s}: iodepth={iodepth:n} has no effect with ioengine={engine:s}."},
	},
	"easy-data": {
		"data that is easier than real data",
		"Drives and filesystems that compress or deduplicate store zeroes and repeated blocks faster than anything else, or not at all.",
		"Write incompressible, unique data: fio's default with refill_buffers=1.",
		map[string]string{
			"zero":     "{tests:s}: zero_buffers writes nothing but zeroes.",
			"compress": "{tests:s}: {percent:pct} of each block can be compressed away.",
			"dedupe":   "{tests:s}: {percent:pct} of the blocks are copies of others.",
			"pattern":  "{tests:s}: every block has the same pattern.",
		},
	},
	"read-slower": {
		"reads slower than writes, on a drive that is rated otherwise",
		"Sequential reads that are slower than sequential writes point to a drive that was already hot, to writes that a cache took, or to reads of blocks that were just written in another order.",
		"Measure again with pauses, and watch the temperature.",
		map[string]string{"": "{side:s}: {read:gb} read and {write:gb} written; the drive is rated {ratedread:gb} and {ratedwrite:gb}."},
	},
	"cpu-saturated": {
		"the CPU was the limit",
		"A job that computes all of the time waits for no drive.",
		"Use more jobs or a leaner engine, or call the figure that of the CPU.",
		map[string]string{"": "{tests:s}: its threads computed in {busy:pct} of their time."},
	},
	"rate-of-one": {
		"minimum and maximum of one I/O a second",
		"With an IOPS log and no log_avg_msec fio counts each I/O as a sample of one, so that its iops_min, iops_max and iops_mean are 1.",
		"Set log_avg_msec=1000, or take IOPS from total_ios over runtime.",
		map[string]string{"": "iops_min and iops_max say 1, and nothing follows from them."},
	},
	"group-sums": {
		"minima and maxima that were added up",
		"With group_reporting fio adds the minimum and maximum of each job, although they were not at the same time.",
		"Take the mean, or a log of the group by seconds.",
		map[string]string{"": "Minimum and maximum of bandwidth and IOPS are sums over jobs, of which none is a minimum or maximum of anything."},
	},
	"incomplete": {
		"the run did not end as planned",
		"A part of the plan is missing.",
		"Measure the rest (nativ bench --resume), or say what is missing.",
		map[string]string{"": "The record is incomplete."},
	},
	"too-short": {
		"too short to show what lasts",
		"A drive writes into a fast cache first, and heats up slowly: what it sustains shows after minutes.",
		"Write for at least a minute, and better until the speed is steady (nativ bench --preset fill); else say that the figure is that of a burst.",
		map[string]string{
			"writes": "{tests:s}: {runtime:time} of writing.",
			"reads":  "{tests:s}: {runtime:time} of reading.",
		},
	},
	"single-run": {
		"nothing was repeated",
		"From one run nobody knows how far the next would be off, so that small differences may be chance.",
		"Repeat in turn, host and container, and show the scatter: nativ bench --preset standard.",
		map[string]string{
			"table": "{tests:n} comparisons rest on single values, without intervals or a number of runs.",
			"runs":  "{tests:s}: no interval can be given.",
		},
	},
	"maximum": {
		"maxima instead of means",
		"The best moment of a run says little about the rest of it, and the longer a run, the higher its maximum.",
		"Show the mean over the run, and the scatter.",
		map[string]string{"": "The figures are maxima, of unknown length."},
	},
	"unwritten": {
		"reads of blocks that may never have been written",
		"A drive answers reads of blocks without data at once, without its flash.",
		"Write all of it before, with data that cannot be compressed.",
		map[string]string{
			"device":   "{tests:s}: a device is read, and nothing shows that it was written before.",
			"not-told": "{tests:s}: nothing is said of a prefill.",
		},
	},
	"simulated": {
		"nothing was measured",
		"A drive model answered.",
		"Publish it as a simulation only.",
		map[string]string{"": "The record is a simulation ({model:s})."},
	},
}

var auditDE = map[string]ruleText{
	"bandwidth-iops": {
		"Bandbreite ist nicht IOPS mal Blockgröße",
		"Jede E/A eines Tests bewegt einen Block, daher hängen Bandbreite, IOPS und Blockgröße voneinander ab. Wo sie um mehr als Rundung voneinander abweichen, ist eine ein Druckfehler, oder sie stammen aus verschiedenen Augenblicken.",
		"Beides in der Rohausgabe nachsehen und drucken, was dort steht.",
		map[string]string{"": "{side:s}, {test:s}: {iops:n} IOPS × {bs:bs} sind {product:mib} und nicht {bandwidth:mib} ({off:signed})."},
	},
	"units": {
		"Einheiten sind verwechselt",
		"MB sind 10^6 Byte und MiB 2^20, und fio nennt Latenzen nach Belieben in ns, µs oder ms. Eine Zahl, die um genau einen solchen Faktor danebenliegt, hat die falsche Einheit.",
		"Die Einheit berichtigen.",
		map[string]string{
			"binary":  "{side:s}, {test:s}: {bandwidth:mib} sind das {factor:factor}-Fache der {product:mib}, die IOPS und Blockgröße ergeben: Byte, Bit oder dezimale und binäre Einheiten.",
			"latency": "{side:s}, {test:s}: {iops:n} IOPS bei einer Latenz von {lat:time} und höchstens {depth:n} E/As zugleich gehen nur, wenn die Latenz eine andere Einheit hat (Faktor {factor:factor}).",
		},
	},
	"claim-table": {
		"der Text sagt etwas anderes als die Tabelle",
		"Ein Verhältnis in einem Satz muss das seiner Zeilen sein.",
		"Den Satz oder die Zeile berichtigen.",
		map[string]string{
			"other-test":  "„{claim:s}“: Die Tabelle ergibt {table:pct} für {test:s}. {claimed:pct} sind die von {other:s} ({otherratio:pct1}).",
			"nowhere":     "„{claim:s}“: Keine Zeile, von der das handeln kann, ergibt {claimed:pct}; {test:s} ergibt {table:pct1}.",
			"almost-none": "„{claim:s}“: {test:s} verliert {loss:pct}.",
		},
	},
	"above-link": {
		"mehr, als die Anbindung trägt",
		"Nichts kommt schneller aus einem Laufwerk als durch seine PCIe-Anbindung.",
		"Einen Cache suchen, der antwortet, oder Jobs, die sich Blöcke teilen.",
		map[string]string{"": "{side:s}, {test:s}: {bandwidth:gb} durch eine Anbindung ({linkname:s}), die höchstens {link:gb} trägt."},
	},
	"above-drive": {
		"mehr, als der Hersteller verspricht",
		"Hersteller nennen, was ihr Laufwerk bestenfalls erreicht. Mehr ist möglich, öfter aber antwortet ein Cache.",
		"Direkte E/A, Größe der Datei und gemeinsame Blöcke der Jobs prüfen.",
		map[string]string{
			"bandwidth": "{side:s}, {test:s}: {bandwidth:gb}, wo der Hersteller bis zu {rated:gb} nennt.",
			"iops":      "{side:s}, {test:s}: {iops:n} IOPS, wo der Hersteller bis zu {ratediops:n} nennt.",
		},
	},
	"littles-law": {
		"mehr E/As unterwegs, als es geben kann",
		"Gesetz von Little: IOPS mal mittlere Latenz sind die E/As, die im Mittel unterwegs sind, und das sind nie mehr als iodepth mal numjobs.",
		"Prüfen, ob beide Zahlen aus demselben Lauf sind, und ihre Einheiten.",
		map[string]string{"": "{side:s}, {test:s}: {iops:n} IOPS × {lat:time} sind {inflight:n} E/As unterwegs; iodepth {iodepth:n} × numjobs {numjobs:n} erlauben {depth:n}."},
	},
	"percentiles": {
		"Perzentile, die es nicht geben kann",
		"Ein höheres Perzentil ist nie niedriger, keines liegt jenseits von Minimum oder Maximum, und auch der Mittelwert nicht.",
		"Prüfen, ob sie aus demselben Lauf und von derselben Art Latenz sind.",
		map[string]string{
			"order":     "{side:s}, {test:s}: p{p:num} von {kind:s} ist {b:time}, weniger als die {a:time} des Perzentils davor.",
			"above-max": "{side:s}, {test:s}: p{p:num} von {kind:s} ist {a:time}, jenseits des Maximums von {b:time}.",
			"below-min": "{side:s}, {test:s}: p{p:num} von {kind:s} ist {a:time}, unter dem Minimum von {b:time}.",
			"mean":      "{side:s}, {test:s}: Der Mittelwert von {kind:s}, {mean:time}, liegt nicht zwischen {min:time} und {max:time}.",
		},
	},
	"job-errors": {
		"ein Job endete mit einem Fehler",
		"Was ein Job maß, bevor er scheiterte, ist nicht das, was er messen sollte.",
		"Die Meldungen von fio lesen, die Ursache beheben und neu messen.",
		map[string]string{"": "Mindestens ein Job endete mit einem Fehler. {detail:s}"},
	},
	"above-cctemp": {
		"heißer als die kritische Temperatur",
		"Bei CCTEMP nennt das Laufwerk selbst seine Temperatur (Composite) kritisch; darüber zählt es Minuten und drosselt oder schaltet ab. Eine Tabelle mit höheren Temperaturen stammt von einem anderen Sensor, oder die Angaben des Laufwerks sind falsch.",
		"Den Sensor nennen und die Zähler des Laufwerks für Warn- und kritische Zeit zeigen.",
		map[string]string{
			"table":  "{rows:n} Zeilen haben Temperaturen von {least:c} bis {most:c}; die CCTEMP des Laufwerks ist {cctemp:c}. Zeit darüber ist nicht belegt.",
			"record": "Die Temperatur (Composite) stieg auf {temperature:c}, über die CCTEMP von {cctemp:c}, und der Zähler für kritische Zeit stieg nicht.",
		},
	},
	"same-offsets": {
		"sequenzielle Jobs auf denselben Blöcken",
		"Mehrere Jobs von fio, die der Reihe nach lesen oder schreiben, beginnen alle an derselben Stelle. Einer fragt das Laufwerk, den anderen antworten Caches, oder das Laufwerk schreibt immer wieder dieselben Blöcke.",
		"Jedem Job einen eigenen Teil geben: offset_increment mit size (Prozente gehen), oder numjobs=1.",
		map[string]string{"": "{tests:s}: {numjobs:n} Jobs gehen durch dieselben Blöcke."},
	},
	"cpus-differ": {
		"die Seiten haben verschieden viele CPUs",
		"Wo ein Container weniger CPUs hat als der Host, kann ein Verlust an den CPUs liegen. Nur der Host auf denselben CPUs zeigt es.",
		"Auch den Host auf den CPUs des Containers messen: nativ bench tut das.",
		map[string]string{"": "{a:s} hatte {host:n} CPUs, {b:s} {container:n}: Der Verlust lässt sich nicht dem Container zuschreiben."},
	},
	"settings-differ": {
		"die Seiten wurden verschieden gemessen",
		"Ein Unterschied liegt dann an den Einstellungen so sehr wie an den Seiten.",
		"Beide Seiten gleich messen.",
		map[string]string{"": "{test:s}: {difference:s}."},
	},
	"buffered": {
		"gepufferte E/A: der Page-Cache antwortet",
		"Ohne direct=1 nimmt der Page-Cache des Kernels die E/A an, und gemessen wird der Speicher so sehr wie das Laufwerk.",
		"direct=1 setzen, oder mit fsync messen, was eine Anwendung sieht.",
		map[string]string{
			"option":  "{tests:s}: direct=0.",
			"default": "{tests:s}: direct ist nicht gesetzt, und der Vorgabewert von fio ist 0.",
		},
	},
	"cache-answers": {
		"der Speicher antwortet statt des Laufwerks",
		"Ein Loop-Gerät ohne direkte E/A geht durch den Page-Cache des Hosts, ZFS durch seinen ARC. Was sie beantworten, erreicht das Laufwerk nie.",
		"An seinen Zählern sehen, was das Laufwerk selbst bewegte; die Zahl die des Speichersystems nennen und nicht die des Laufwerks.",
		map[string]string{
			"loop":    "{tests:s}: Die Datei liegt auf einem Loop-Gerät ohne direkte E/A.",
			"arc":     "{tests:s}: Die Datei liegt auf ZFS, dessen ARC Lesezugriffe beantwortet.",
			"counted": "{tests:s}: Das Laufwerk bewegte nur {share:pct} des Gelesenen.",
		},
	},
	"smaller-than-memory": {
		"die Datei passt in den Arbeitsspeicher",
		"Wo ein Cache antworten kann, liegt eine Datei, die kleiner ist als der Arbeitsspeicher, bald ganz in ihm.",
		"Direkte E/A nehmen, oder eine Datei von mindestens dem doppelten Arbeitsspeicher.",
		map[string]string{"": "{tests:s}: {size:bin} werden durch einen Cache gelesen, auf einer Maschine mit {memory:bin}."},
	},
	"iodepth-sync": {
		"iodepth ohne asynchrone Engine",
		"Engines, die auf jede E/A warten, haben eine unterwegs, was immer iodepth sagt.",
		"ioengine=io_uring oder libaio nehmen, oder iodepth 1 berichten.",
		map[string]string{"": "{tests:s}: iodepth={iodepth:n} hat mit ioengine={engine:s} keine Wirkung."},
	},
	"easy-data": {
		"Daten, die leichter sind als echte",
		"Laufwerke und Dateisysteme, die komprimieren oder deduplizieren, speichern Nullen und wiederholte Blöcke schneller als alles andere oder gar nicht.",
		"Nicht komprimierbare, einmalige Daten schreiben: die Vorgabe von fio mit refill_buffers=1.",
		map[string]string{
			"zero":     "{tests:s}: zero_buffers schreibt nur Nullen.",
			"compress": "{tests:s}: {percent:pct} jedes Blocks lassen sich wegkomprimieren.",
			"dedupe":   "{tests:s}: {percent:pct} der Blöcke sind Kopien anderer.",
			"pattern":  "{tests:s}: Jeder Block hat dasselbe Muster.",
		},
	},
	"read-slower": {
		"liest langsamer, als es schreibt, und ist anders spezifiziert",
		"Sequenzielles Lesen, das langsamer ist als sequenzielles Schreiben, spricht für ein Laufwerk, das schon heiß war, für Schreiben in einen Cache oder für Blöcke, die eben in anderer Reihenfolge geschrieben wurden.",
		"Mit Pausen neu messen und die Temperatur beobachten.",
		map[string]string{"": "{side:s}: {read:gb} gelesen und {write:gb} geschrieben; angegeben sind {ratedread:gb} und {ratedwrite:gb}."},
	},
	"cpu-saturated": {
		"die CPU war die Grenze",
		"Ein Job, der die ganze Zeit rechnet, wartet auf kein Laufwerk.",
		"Mehr Jobs oder eine sparsamere Engine nehmen, oder die Zahl die der CPU nennen.",
		map[string]string{"": "{tests:s}: Seine Threads rechneten {busy:pct} ihrer Zeit."},
	},
	"rate-of-one": {
		"Minimum und Maximum von einer E/A je Sekunde",
		"Mit einem IOPS-Log und ohne log_avg_msec zählt fio jede E/A als eine Probe von eins, sodass iops_min, iops_max und iops_mean 1 sind.",
		"log_avg_msec=1000 setzen, oder IOPS aus total_ios und Laufzeit nehmen.",
		map[string]string{"": "iops_min und iops_max sagen 1, und daraus folgt nichts."},
	},
	"group-sums": {
		"Minima und Maxima, die addiert wurden",
		"Mit group_reporting addiert fio Minimum und Maximum der Jobs, obwohl sie nicht zur selben Zeit waren.",
		"Den Mittelwert nehmen, oder ein Log der Gruppe nach Sekunden.",
		map[string]string{"": "Minimum und Maximum von Bandbreite und IOPS sind Summen über Jobs, von denen keine ein Minimum oder Maximum von etwas ist."},
	},
	"incomplete": {
		"der Lauf endete nicht wie geplant",
		"Ein Teil des Plans fehlt.",
		"Den Rest messen (nativ bench --resume), oder sagen, was fehlt.",
		map[string]string{"": "Die Aufzeichnung ist unvollständig."},
	},
	"too-short": {
		"zu kurz, um zu zeigen, was bleibt",
		"Ein Laufwerk schreibt zuerst in einen schnellen Cache und wird langsam warm: Was es durchhält, zeigt sich nach Minuten.",
		"Mindestens eine Minute schreiben, besser bis das Tempo gleich bleibt (nativ bench --preset fill); sonst sagen, dass die Zahl für kurze Last gilt.",
		map[string]string{
			"writes": "{tests:s}: {runtime:time} Schreiben.",
			"reads":  "{tests:s}: {runtime:time} Lesen.",
		},
	},
	"single-run": {
		"nichts wurde wiederholt",
		"Aus einem Lauf weiß niemand, wie weit der nächste danebenläge; kleine Unterschiede können Zufall sein.",
		"Abwechselnd wiederholen, Host und Container, und die Streuung zeigen: nativ bench --preset standard.",
		map[string]string{
			"table": "{tests:n} Vergleiche stützen sich auf einzelne Werte, ohne Intervall oder Zahl der Läufe.",
			"runs":  "{tests:s}: Ein Intervall lässt sich nicht angeben.",
		},
	},
	"maximum": {
		"Höchstwerte statt Mittelwerte",
		"Der beste Augenblick eines Laufs sagt wenig über den Rest, und je länger ein Lauf, desto höher sein Maximum.",
		"Den Mittelwert über den Lauf zeigen, und die Streuung.",
		map[string]string{"": "Die Zahlen sind Höchstwerte von unbekannter Dauer."},
	},
	"unwritten": {
		"liest Blöcke, die vielleicht nie geschrieben wurden",
		"Ein Laufwerk beantwortet das Lesen von Blöcken ohne Daten sofort, ohne seinen Flash.",
		"Vorher alles schreiben, mit nicht komprimierbaren Daten.",
		map[string]string{
			"device":   "{tests:s}: Ein Gerät wird gelesen, und nichts zeigt, dass es vorher beschrieben wurde.",
			"not-told": "{tests:s}: Von einem Vorabschreiben ist nicht die Rede.",
		},
	},
	"simulated": {
		"nichts wurde gemessen",
		"Ein Laufwerksmodell antwortete.",
		"Nur als Simulation veröffentlichen.",
		map[string]string{"": "Die Aufzeichnung ist eine Simulation ({model:s})."},
	},
}
