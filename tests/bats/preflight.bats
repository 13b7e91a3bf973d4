#!/usr/bin/env bats
# What is missing is named before anything starts, all of it at once.

load sweep

@test "everything that is missing is named at once: exit 2, nothing starts" {
  touch job.yaml
  printf '%s\n' 'name: s' 'runner: {kind: command, argv: [no-such-runner, "{x}"]}' 'config: job.yaml' \
    'env: {HF_TOKEN: {from: MY_MISSING_TOKEN}}' 'matrix: {params: {x: [a]}}' >sweep.yaml
  sweeptool render sweep.yaml >driver.sh
  rm job.yaml
  run env -u MY_MISSING_TOKEN bash driver.sh
  [ "$status" -eq 2 ]
  [[ $output == *no-such-runner* ]]
  [[ $output == *job.yaml* ]]
  [[ $output == *MY_MISSING_TOKEN* ]]
  [ ! -e artifacts ]
}

@test "no sweeptool on PATH: named, exit 2" {
  spec 'matrix: {params: {x: [a]}}'
  run env SWEEPTOOL=no-such-sweeptool bash driver.sh
  [ "$status" -eq 2 ]
  [[ $output == *no-such-sweeptool* ]]
}

@test "a project directory that is not there: exit 2" {
  spec 'matrix: {params: {x: [a]}}'
  run bash driver.sh --project-dir /no/such/dir
  [ "$status" -eq 2 ]
  [[ $output == *'/no/such/dir'* ]]
}

@test "CDPATH leads nowhere else" {
  mkdir -p elsewhere/sub sub
  spec 'matrix: {params: {x: [a]}}'
  run env CDPATH="$PWD/elsewhere" bash driver.sh --project-dir sub
  [ "$status" -eq 0 ]
  [ -d sub/artifacts ]
  [ ! -d elsewhere/sub/artifacts ]
}

@test "words that mean nothing, and numbers that are none: exit 2" {
  spec 'matrix: {params: {x: [a]}}'
  local words
  for words in nonsense '-j x' '-j' '-j -1' 'shard' 'shard x' 'shard 1' 'shard 08' '--max-cost-usd' '--project-dir'; do
    # shellcheck disable=SC2086 # words
    run bash driver.sh $words
    [ "$status" -eq 2 ]
  done
  [ ! -s "$RECORD" ]
}
