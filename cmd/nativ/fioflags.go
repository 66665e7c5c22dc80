package main

import (
	"slices"
	"strconv"
	"strings"

	"nativ/internal/record"
)

// fioFlags are nativ's own flags of nativ fio. They are taken out of the command
// line by hand: all the rest are options of jobs, which have fio's form.
type fioFlags struct {
	place, engine, memory, lang, format, trace, out string
	cpus                                            int
	yes, privileged, help                           bool
	// Those of the fio program: sections to read, where the result goes, whether
	// progress is shown, and that nothing may be written.
	sections    []string
	output, eta string
	readonly    bool
}

// outputFormats are fio's --output-format as a --format.
var outputFormats = map[string]string{"normal": "text", "json": "fio-json", "json+": "fio-json"}

// fioFormats are those of --format.
var fioFormats = []string{"text", "json", "fio-json", "md"}

// splitFioArgs takes nativ's own flags out of the command line. The rest is for
// job.ParseArgs. All after "--" are names of files.
func splitFioArgs(args []string) (f fioFlags, rest []string, err error) {
	f = fioFlags{place: record.PlaceHost, engine: "own", memory: "4G", format: "text"}
	text := map[string]*string{
		"place": &f.place, "engine": &f.engine, "memory": &f.memory, "lang": &f.lang, "format": &f.format, "trace": &f.trace, "out": &f.out,
	}
	var cpus, section, outputFormat string
	text["cpus"], text["section"], text["output-format"] = &cpus, &section, &outputFormat
	text["output"], text["eta"] = &f.output, &f.eta
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		name, value, has := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !strings.HasPrefix(arg, "--") {
			switch arg {
			case "-h":
				f.help = true
			case "-y":
				f.yes = true
			default:
				rest = append(rest, arg)
			}
			continue
		}
		switch name {
		case "yes", "json", "privileged", "help", "readonly":
			on := true
			if has {
				if on, err = strconv.ParseBool(value); err != nil {
					return f, nil, exit(exitUsage, "--%s=%s: neither true nor false", name, value)
				}
			}
			switch {
			case name == "yes":
				f.yes = on
			case name == "privileged":
				f.privileged = on
			case name == "help":
				f.help = on
			case name == "readonly":
				f.readonly = on
			case on:
				f.format = "json"
			}
			continue
		}
		to, own := text[name]
		if !own {
			rest = append(rest, arg)
			continue
		}
		if !has {
			if i+1 == len(args) {
				return f, nil, exit(exitUsage, "--%s: the value is missing", name).next("See: nativ fio --help")
			}
			i++
			value = args[i]
		}
		*to = value
		switch name {
		case "section":
			f.sections = append(f.sections, value)
		case "output-format":
			if f.format, own = outputFormats[value]; !own {
				return f, nil, exit(exitUsage, "--output-format=%s: nativ fio has normal, json and json+", value).
					next("Its own forms: --format text, json, fio-json or md, and nativ report makes each of them of a run that is over.")
			}
		}
	}
	return f, rest, f.check(cpus)
}

// check decides what needs no machine.
func (f *fioFlags) check(cpus string) error {
	one := func(flag, value string, known []string) error {
		if !slices.Contains(known, value) {
			return exit(exitUsage, "--%s: %q is not one of %s", flag, value, strings.Join(known, ", "))
		}
		return nil
	}
	if err := one("place", f.place, []string{record.PlaceHost, record.PlacePinned, record.PlaceLXC}); err != nil {
		return err
	}
	if err := one("engine", f.engine, []string{"own", "fio"}); err != nil {
		return err
	}
	if err := one("format", f.format, fioFormats); err != nil {
		return err
	}
	if err := one("eta", f.eta, []string{"", "auto", "never"}); err != nil {
		return err
	}
	if f.trace == "-" {
		return exit(exitUsage, "--trace -: standard output has the summary").next("Name a file that does not exist.")
	}
	if cpus != "" {
		n, err := strconv.Atoi(cpus)
		if err != nil || n < 1 {
			return exit(exitUsage, "--cpus %s: a number of CPUs, at least 1", cpus)
		}
		f.cpus = n
	}
	return nil
}

// memoryLimit reads --memory; nil is none.
func memoryLimit(text string) (*int64, error) {
	if text == "none" {
		return nil, nil
	}
	n, err := parseSize(text)
	if err != nil {
		return nil, exit(exitUsage, "--memory: %w, nor none", err)
	}
	// The workers' buffers alone take 16 MiB at iodepth 32, numjobs 4, 128K.
	if n < 128<<20 {
		return nil, exit(exitUsage, "--memory %s: at least 128M, which the buffers of a pass need", text)
	}
	return &n, nil
}
