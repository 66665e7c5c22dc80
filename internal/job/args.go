package job

import "strings"

// programOptions are those of the fio program itself (fio 3.33 --help), which a
// job has no part in; true where the option takes its value as the next
// argument.
var programOptions = map[string]bool{
	"debug": true, "parse-only": false, "merge-blktrace-only": false, "output": true, "bandwidth-log": false,
	"minimal": false, "output-format": true, "append-terse": false, "terse-version": true, "version": false,
	"help": false, "cpuclock-test": false, "crctest": false, "memcpytest": false, "cmdhelp": false, "enghelp": false,
	"showcmd": false, "eta": true, "eta-interval": true, "eta-newline": true, "status-interval": true,
	"readonly": false, "section": true, "alloc-size": true, "warnings-fatal": false, "max-jobs": true,
	"server": false, "daemonize": true, "client": true, "remote-config": true, "idle-prof": true,
	"inflate-log": true, "trigger-file": true, "trigger-timeout": true, "trigger": true, "trigger-remote": true,
	"aux-path": true, "latency-log": false,
}

// ParseArgs reads fio's command line, without the program's name: options of
// jobs (--rw=read, --rw read, -rw=read), of which those before the first --name
// or after --name=global hold for all jobs that follow, --name=x to begin a job,
// and job files, whose jobs come after those of the command line. For fio the
// options for all jobs hold for the first file only, which is an error here if
// there are more. Nothing is expanded: that is the shell's part. Options without any --name or file, which
// fio refuses, make one job named after its mode.
//
// Options of the fio program (--output and so on) are errors of the kind NotJob:
// the caller takes those that are its own out of args first.
func ParseArgs(opts Options, args []string) (*File, error) {
	p := newParser(opts)
	p.job = &p.global
	var files []string
	named, optioned := false, false
	for i := 0; i < len(args); i++ {
		arg, pos := args[i], Pos{Line: i + 1}
		if arg == "--" {
			files = append(files, args[i+1:]...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			files = append(files, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if !hasValue && takesNext(name) && i+1 < len(args) {
			i++
			value, hasValue = args[i], true
			if strings.HasPrefix(value, "--") {
				e := p.fail(pos, Invalid, "the option needs a value; fio takes the next argument %s as that", value)
				e.Option = name
				continue
			}
		}
		if _, ok := programOptions[name]; ok {
			e := p.fail(pos, NotJob, "an option of the fio program and not of a job; where it is needed, %s", WayAround)
			e.Option, e.Value = name, value
			continue
		}
		if name != "name" {
			optioned = true
			p.option(pos, name, value, value, hasValue)
			continue
		}
		p.close()
		if value == "" {
			p.fail(pos, Syntax, "the option needs a value").Option = "name"
			continue
		}
		p.begin(pos, value, false)
		named = named || p.job != &p.global
	}
	p.close()
	if optioned && !named && len(files) == 0 && len(p.errs) == 0 {
		p.begin(Pos{}, string(p.global.RW), false)
		p.close()
		p.warns = append(p.warns, Warning{Section: p.section, Text: "fio itself needs a --name to make a job of these options"})
	}
	if len(files) > 1 && len(p.global.set) > 0 && len(p.errs) == 0 && !opts.ForFio {
		p.fail(Pos{}, Surprise, "options before --name hold for the first job file only, as fio has it (%s does it); put them into the [global] section of each file or run the files one by one",
			WayOut)
	}
	p.files(files)
	return p.finish()
}

// takesNext reports whether fio takes the argument after --name as its value.
func takesNext(name string) bool {
	if name == "name" {
		return true
	}
	if o := optionByName(name); o != nil {
		return !o.bare
	}
	if next, ok := programOptions[name]; ok {
		return next
	}
	return knownToFio(name) && !bareInFio(name)
}
