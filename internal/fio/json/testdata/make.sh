#!/bin/sh
# Makes the files fio-3.33-*.json and *.log in this directory anew, with the fio
# that is installed, on a scratch file in a directory with direct I/O:
#
#	./make.sh /var/tmp/scratch
#
# Paths and host names are replaced afterwards. The tests hold numbers of the
# files as they are, so that those of new ones have to be looked up.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/t" && cd "$1"
v=$(fio --version)
common="--directory=t --size=1m --direct=1 --ioengine=libaio --percentile_list=50:99"
run() { # name, format, options
	name=$1 format=$2
	shift 2
	fio $common "$@" --output-format="$format" --output="$v-$name.json" || true
}
quick="--bs=4k --number_ios=24"
slow="--bs=4k --time_based --runtime=1 --rate_iops=50"
run plain json --name=plain --rw=randread $quick --iodepth=4
run jsonplus json+ --name=plus --rw=randread $quick --iodepth=4 --lat_percentiles=1 --clat_percentiles=1 --slat_percentiles=1
run normal normal,json --name=normal --rw=randread $quick
run gtod json --name=gtod --rw=randread $quick --gtod_reduce=1
run disable json --name=disable --rw=randwrite $quick --disable_lat=1 --disable_clat=1 --disable_slat=1
run group json+ --name=group --rw=randread $slow --numjobs=3 --group_reporting
run sections json --name=one --rw=randread $slow --group_reporting --name=two --directory=t --size=1m --rw=randread $slow --group_reporting
run group-mixed json --rw=read $quick --name=a --name=b --group_reporting --numjobs=2 --name=c
run rwmix json+ --name=mix --rw=randrw --rwmixread=70 $quick --lat_percentiles=1
run verify json+ --name=verify --rw=randwrite $quick --verify=crc32c --do_verify=1
run verify-mixed json --name=verify --rw=randrw $quick --verify=crc32c --do_verify=1
run mixed json --name=mixed --rw=randrw $quick --unified_rw_reporting=mixed
run both json --name=both --rw=randrw $quick --unified_rw_reporting=both
run sync json+ --name=sync --rw=write $quick --fdatasync=1
run status json --name=status --rw=randread $slow --runtime=3 --status-interval=1
run samename json --name=same --rw=randread $quick --name=same --stonewall --directory=t --size=1m --direct=1 --rw=randread --bs=8k --number_ios=24
run error json --name=error --rw=read $quick --filename=missing --allow_file_create=0
run empty json --name=empty
logs="--write_bw_log=log --write_iops_log=log --write_lat_log=log"
fio --name=clones $common --rw=write --bs=64k --numjobs=2 --rate_iops=40 --time_based --runtime=2 \
	$logs --log_avg_msec=250 --output-format=json+ --output="$v-clones.json"
rm -f log_slat* log_clat*
for f in log_*; do mv "$f" "clones-$f"; done
logs="--write_bw_log=log --write_iops_log=log"
fio --name=pause $common --rw=read --bs=4k --time_based --runtime=6 --rate_iops=400 --thinktime=2s --thinktime_blocks=400 \
	$logs --log_avg_msec=500 --output-format=json --output="$v-pause.json"
for f in log_*; do mv "$f" "pause-$f"; done
fio --name=each $common --rw=randrw $quick --write_iops_log=log --write_lat_log=log --output-format=json --output="$v-each.json"
rm -f log_slat* log_clat*
for f in log_*; do mv "$f" "each-$f"; done
cat >client.fio <<EOF
[global]
directory=$PWD/t
size=1m
direct=1
percentile_list=50:99
bs=4k
number_ios=24
[read]
rw=randread
[write]
rw=write
stonewall
EOF
fio --server=ip:127.0.0.1,8799 >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
sleep 1
fio --client=ip:127.0.0.1,8799 client.fio --client=ip:127.0.0.1,8799 client.fio --output-format=json+ --output="$v-client.json"
sed -i "s|$PWD/t|/mnt/test|g; s|\"t\"|\"/mnt/test\"|g; s|<$(hostname)>|<host>|g" "$v"-*.json
sed -i 's|"log"|"clones-log"|' "$v-clones.json"
sed -i 's|"log"|"pause-log"|' "$v-pause.json"
sed -i 's|"log"|"each-log"|' "$v-each.json"
mv "$v"-*.json ./*.log "$here"
