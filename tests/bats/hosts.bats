#!/usr/bin/env bats
# Hosts that are full, read-only, poor, odd or late: nothing is lost, and what is wrong is said once.

load sweep

four='matrix: {params: {x: [a, b, c, d]}}'

teardown() {
  local status=0
  finish_test || status=$?
  [[ ! -d disk ]] || umount -l disk
  return "$status"
}

# disk SIZE: a small disk for the sweeps, which only root can make.
disk() {
  mkdir disk
  if ! mount -t tmpfs -o "size=$1" tmpfs disk 2>/dev/null; then
    rmdir disk
    skipped "no right to mount a tmpfs"
  fi
  export SWEEPTOOL_SWEEPS_DIR=$PWD/disk
  LEDGER=$PWD/disk/s/ledger.jsonl
}

fill() {
  dd if=/dev/zero of=disk/fill bs=4096 2>/dev/null || true # until it is full
  [ "$(df --output=avail disk | tail -1)" -eq 0 ]
}

@test "disk full: launching stops and says so once, what runs is settled when there is room, and it goes on by itself" {
  disk 1m
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  fill
  touch go
  soon noted end 2
  soon grep -q '^hold ' err
  sleep 1.5 # it looks every second
  [ "$(grep -c '^hold ' err)" -le 2 ] # no launch, and no settlement
  [ "$(wrote begin | wc -w)" -eq 2 ]
  rm disk/fill
  ended
  [ "$code" -eq 0 ]
  [ "$(wrote begin | wc -w)" -eq 4 ]
  [ "$(outcomes 0) $(outcomes 1) $(outcomes 2) $(outcomes 3)" = "succeeded succeeded succeeded succeeded" ]
}

@test "disk full: Ctrl-C ends it, exit 130; with room the same driver finishes and counts what ran" {
  disk 1m
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  fill
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 130 ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
  soon nothing_left
  rm disk/fill
  touch go
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(grep -c '"state": "succeeded"' "$LEDGER")" -eq 4 ]
}

@test "disk full before the start: exit 2, one line, nothing starts; with room it runs" {
  disk 256k
  fill
  spec "$four"
  run bash driver.sh
  [ "$status" -eq 2 ]
  [[ ${lines[0]} == error:*"No space left on device"* ]]
  [ "${#lines[@]}" -eq 1 ]
  [ ! -s "$RECORD" ]
  rm disk/fill
  run bash driver.sh
  [ "$status" -eq 0 ]
}

@test "read-only sweeps directory: exit 2, one line, nothing starts; what is done can still be looked at" {
  disk 1m
  spec 'max_parallel: 1' "$four"
  run bash driver.sh shard 0
  [ "$status" -eq 0 ]
  mount -o remount,ro disk
  run bash driver.sh
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == error:*"Read-only file system"* ]]
  [ "$(wrote begin)" = a ]
  run sweeptool status s
  [ "$status" -eq 0 ]
  [[ $output == *"1/4"* ]]
}

@test "a sweep directory that its user may not write: exit 2, one line, nothing starts" {
  local -a bound=()
  # root may write anywhere, unless that is taken from it
  ((EUID)) || bound=(setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-all)
  spec "$four"
  mkdir -p artifacts/sweeps
  chmod 555 artifacts/sweeps
  run "${bound[@]}" bash driver.sh
  chmod 755 artifacts/sweeps
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == error:*"cannot be written: Permission denied"* ]]
  [ ! -s "$RECORD" ]
}

@test "a sweep directory that disappears under a driver: it ends, and launches nothing more" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 1' "$four"
  drive
  soon noted begin 1
  rm -r artifacts
  touch go
  ended
  [ "$code" -eq 70 ]
  [ "$(wrote begin)" = a ]
}

@test "a ledger that is cut while adopted shards run: a signal still reaches them" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  kill -KILL "$DRIVER"
  wait "$DRIVER" || true
  drive
  soon grep -q 'cell 1 attempt 1 still runs' err
  truncate -s 10 "$LEDGER"
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 70 ]
  [ "$(wrote INT | wc -w)" -eq 2 ]
}

@test "a ledger that is cut under its driver: exit 70, and the last table does not say that it runs on" {
  stub 'begin; gate go; succeed'
  spec 'max_parallel: 2' "$four"
  drive
  soon noted begin 2
  truncate -s -5 "$LEDGER"
  touch go
  ended
  [ "$code" -eq 70 ]
  [ "$(grep -c 'was cut or deleted' err)" -eq 1 ]
  grep -q '^s  *Suspended' out
}

@test "a clock that jumps back: delays go on, nothing runs twice, a second signal is still a second one" {
  library=$(find /usr/lib -name libfaketime.so.1 2>/dev/null | head -n 1)
  [[ -n $library && -d /dev/shm ]] || skipped "libfaketime or /dev/shm is not there"
  # What its processes share is made here: left to them, whichever ends first takes it from the next.
  name=faketime-$$-$BATS_TEST_NUMBER
  python3 -c 'import _multiprocessing, sys; _multiprocessing.SemLock(1, 1, 1, sys.argv[1], False)' "/$name"
  truncate -s 4096 "/dev/shm/$name"
  export FAKETIME_SHARED="/$name /$name"
  echo '+0s' >clock
  spec 'max_parallel: 1' 'launch_delay: 300ms' "$four"
  stub 'begin; [[ $1 == b ]] && { trap "" INT; gate go; }; succeed'
  export FAKETIME_TIMESTAMP_FILE=$PWD/clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1
  LD_PRELOAD=$library drive
  soon noted begin 2
  echo '-1d' >clock
  kill -INT "$DRIVER"
  soon grep -q '"event": "interrupted"' "$LEDGER"
  sleep 1.1
  kill -INT "$DRIVER"
  ended
  [ "$code" -eq 130 ]
  touch go
  echo '-2d' >clock
  LD_PRELOAD=$library run bash driver.sh
  [ "$status" -eq 0 ] || { printf 'exit %s: %s\n' "$status" "$output"; false; }
  [ "$(wrote begin)" = "a b b c d" ]
  LD_PRELOAD=$library run sweeptool status
  [ "$status" -eq 0 ]
  rm "/dev/shm/$name" "/dev/shm/sem.$name"
}

@test "stdout and stderr closed, full, or read by somebody who leaves: the sweep runs, its files are whole" {
  for how in '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-' '>/dev/full' '2>/dev/full' '>/dev/full 2>/dev/full'; do
    rm -rf artifacts
    spec 'before: [[true]]' 'max_parallel: 2' 'matrix: {params: {x: [a, b]}}'
    run bash -c "bash driver.sh $how"
    [ "$status" -eq 0 ]
    python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$LEDGER"
    [ "$(grep -c '"state": "succeeded"' "$LEDGER")" -eq 2 ]
    [ "$(grep -rlE '^(sweep|launch) ' artifacts | wc -l)" -eq 0 ] # no words of ours in a file
  done
}

@test "a reader that leaves early ends nothing: driver.sh | head -1" {
  stub 'begin; sleep 0.2; succeed'
  spec 'max_parallel: 1' "$four"
  run bash -c 'bash driver.sh 2>&1 | head -1; exit "${PIPESTATUS[0]}"'
  [ "$status" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "a poor environment: no HOME, no TMPDIR, nothing but PATH; TMPDIR that is not there" {
  spec 'before: [[true]]' "$four"
  run env -i PATH="$PATH" RECORD="$RECORD" bash driver.sh
  [ "$status" -eq 0 ]
  rm -r artifacts
  HOME=/nowhere TMPDIR=/nowhere TERM='' LANG=xx_XX run bash driver.sh
  [ "$status" -eq 0 ]
}

@test "/tmp read-only: the driver needs no temporary file" {
  spec 'before: [[true]]' "$four"
  unshare -m true 2>/dev/null || skipped "no right to have mounts of its own"
  run unshare -m bash -c 'mount --rbind /tmp /tmp && mount -o remount,bind,ro /tmp && mount --bind "$1" "$1" &&
    mount -o remount,bind,rw "$1" && cd "$1/project" && ! touch /tmp/x 2>/dev/null && exec bash driver.sh' - "$BATS_TEST_TMPDIR"
  [ "$status" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "umask 077: files are the user's own, and a resumed sweep can read them" {
  spec "$four"
  umask 077
  run bash driver.sh
  [ "$status" -eq 0 ]
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(find artifacts -perm /077 -type f | wc -l)" -eq 0 ]
}

@test "an odd environment: exported functions, BASH_ENV, CDPATH, IFS, SHELLOPTS, options of other programs" {
  mkdir elsewhere
  printf 'kill() { echo odd; }\nset -f\n' >env.sh
  stub 'begin; module load && succeed'
  spec 'before: ["module load"]' 'max_parallel: 2' "$four"
  # shellcheck disable=SC2317 # the driver must not call them, but what it runs may
  odd() {
    stub() { :; }
    module() { :; }
    export -f stub module
    local name
    for name in cd command echo env kill local mapfile mkdir printf read return rm set shift sleep trap type unset wait eval; do
      eval "$name() { :; }; export -f $name"
    done
    exec "$@"
  }
  run odd env BASH_ENV="$PWD/env.sh" CDPATH="$PWD/elsewhere:/" IFS=e GREP_OPTIONS=-v SHELLOPTS=noglob GLOBIGNORE='*' \
    PYTHONPATH=/nowhere PYTHONOPTIMIZE=2 PYTHONIOENCODING=ascii PROMPT_COMMAND=false bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 4 ]
}

@test "a runner gets stdin, stdout and stderr, and no other file of ours" {
  stub 'find /proc/$$/fd -type l -printf "%l\n" >all; sort -u all >fds; begin; succeed'
  "$BATS_TEST_TMPDIR/bin/stub" a >/dev/null </dev/null 3>&- 4>&- # what it has without a driver
  mv fds without
  spec 'matrix: {params: {x: [a]}}'
  drive
  ended
  [ "$(comm -23 fds without | sed 's|.*/||' | paste -sd ' ')" = "stderr.log stdout.log" ]
}

@test "20,000 cells: bash takes the driver, and runs its first and its last cell" {
  python3 -c 'import json; print(json.dumps({"name": "s", "runner": {"kind": "command", "argv": ["stub", "{x}"]}, "matrix": {"params": {"x": [f"v{n}" for n in range(20_000)]}}}))' >spec.json
  sweeptool render spec.json >driver.sh
  bash -n driver.sh
  run bash driver.sh shard 0
  [ "$status" -eq 0 ]
  run bash driver.sh shard 19999
  [ "$status" -eq 0 ]
  [ "$(wrote begin)" = "v0 v19999" ]
}

@test "ulimit -n 64: forty cells at once" {
  stub 'begin; crowd 40; succeed'
  spec 'max_parallel: 0' "matrix: {params: {x: [$(seq -s , 40)]}}"
  run bash -c 'ulimit -n 64; exec bash driver.sh' 3>&- 4>&-
  [ "$status" -eq 0 ]
  [ "$(grep -c '"state": "succeeded"' "$LEDGER")" -eq 40 ]
}

@test "a full disk loses no exit code: a failure beside a manifest that says otherwise stays one" {
  disk 1m
  stub 'begin; gate go; finish 3 false'
  spec 'matrix: {params: {x: [a]}}'
  drive
  soon noted begin 1
  fill
  touch go
  soon noted end 1
  sleep 1
  rm disk/fill
  ended
  [ "$code" -eq 1 ]
  [ "$(outcomes 0)" = failed ]
}

@test "a terminal with stty tostop stops neither the ledger nor the sweep" {
  spec 'matrix: {params: {x: [a, b]}}'
  timeout 60 python3 "$BATS_TEST_DIRNAME/terminal.py" bash -c 'stty tostop; bash driver.sh' >terminal.out 2>&1 </dev/null 3>&- 4>&-
  [ "$(grep -c '"state": "succeeded"' "$LEDGER")" -eq 2 ]
}

@test "a program that has the name of one of the driver's functions is the program" {
  local name
  for name in launch claim tell record count; do
    ln -sf stub "$BATS_TEST_TMPDIR/bin/$name"
  done
  for name in launch claim record count; do
    printf 'name: %s\nrunner: {kind: command, argv: [%s, a]}\nmatrix: {params: {x: [a]}}\n' "$name" "$name" >sweep.yaml
    sweeptool render sweep.yaml >driver.sh
    run bash driver.sh
    [ "$status" -eq 0 ]
  done
  [ "$(wrote begin | wc -w)" -eq 4 ]
}

@test "a daemon that before: starts does not keep the sweep" {
  spec 'before: ["sleep 20 >/dev/null 2>&1 & echo $! >daemon"]' "matrix: {params: {x: [a, b]}}"
  run bash driver.sh
  [ "$status" -eq 0 ]
  run timeout 10 bash driver.sh
  [ "$status" -eq 0 ]
  kill "$(<daemon)"
}

@test "waiting costs next to nothing: no spinning on a shard, nor on a ledger that is gone" {
  stub 'begin; gate go; succeed'
  spec 'matrix: {params: {x: [a, b]}}'
  drive
  soon noted begin 2
  sleep 3
  pkill -KILL -P "$DRIVER" -f 'sweeptool ledger'
  sleep 3
  touch go
  read -r -a stat <"/proc/$DRIVER/stat"
  ((stat[13] + stat[14] < 100)) # hundredths of a second
  ended
  [ "$code" -eq 70 ]
}
