#!/usr/bin/env bats
# What the cap admits, where it stops, and how a sweep goes on under another one.

load sweep

five='matrix: {params: {x: [a, b, c, d, e]}}'

@test "reserve: under 0.75, cells of at most 0.30 that cost 0.30: two are launched, exit 3, the rest is pending" {
  stub 'begin; succeed 0.30'
  spec 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' 'max_parallel: 4' "$five"
  run bash driver.sh
  [ "$status" -eq 3 ]
  [ "$(wrote begin | wc -w)" -eq 2 ]
  [[ $output == *'spent $0.60 + in flight $0.00 + this cell $0.30 > $0.75'* ]]
  [[ $(sweeptool status) == *MaxCostReached* ]]
}

@test "spent: under 0.75, one at a time: three are launched, exit 3" {
  stub 'begin; succeed 0.30'
  spec 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' 'max_parallel: 1' 'budget_policy: spent' "$five"
  run bash driver.sh
  [ "$status" -eq 3 ]
  [ "$(wrote begin)" = "a b c" ]
}

@test "a raised cap goes on with the next cell, given to the driver or written into the spec" {
  stub 'begin; succeed 0.30'
  spec 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' 'max_parallel: 1' "$five"
  run bash driver.sh
  [ "$status" -eq 3 ]
  run bash driver.sh --max-cost-usd 1.00
  [ "$status" -eq 3 ]
  [ "$(wrote begin)" = "a b c" ]
  run bash driver.sh
  [ "$status" -eq 3 ]
  [ "$(wrote begin)" = "a b c" ]
  spec 'max_cost_usd: 1.50' 'cost_cap_usd: 0.30' 'max_parallel: 1' "$five"
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(wrote begin)" = "a b c d e" ]
}

@test "a cap below what is spent is refused: exit 2, nothing starts, the old one stays" {
  stub 'begin; succeed 0.30'
  spec 'max_cost_usd: 0.75' 'cost_cap_usd: 0.30' 'max_parallel: 1' "$five"
  run bash driver.sh
  run bash driver.sh --max-cost-usd 0.59
  [ "$status" -eq 2 ]
  [[ $output == *'$0.59 is below the $0.60 already spent'* ]]
  spec 'max_cost_usd: 0.40' 'cost_cap_usd: 0.30' 'max_parallel: 1' "$five"
  run bash driver.sh
  [ "$status" -eq 2 ]
  [ "$(wrote begin)" = "a b" ]
  [[ $(sweeptool budget) == *'$0.75'* ]]
}

@test "a cap that is no amount: exit 2, nothing starts" {
  spec 'max_cost_usd: 5' 'cost_cap_usd: 0.30' "$five"
  for amount in abc -1 '' nan 1e9 0.1234567 '$5'; do
    run bash driver.sh --max-cost-usd "$amount"
    [ "$status" -eq 2 ]
    [ "$(grep -c '^error: ' <<<"$output")" -eq 1 ]
  done
  run bash driver.sh --max-cost-usd
  [ "$status" -eq 2 ]
  [ ! -s "$RECORD" ]
}

@test "ten cells of 0.10 under a cap of 1.00: all ten run" {
  stub 'begin; succeed 0.10'
  spec 'max_cost_usd: 1.00' 'cost_cap_usd: 0.10' 'max_parallel: 3' 'matrix: {params: {x: [a, b, c, d, e, f, g, h, i, j]}}'
  run bash driver.sh
  [ "$status" -eq 0 ]
  [ "$(wrote end | wc -w)" -eq 10 ]
}

@test "cap 5.00, four slots, 4.75 spent, each at most 0.09: two more are launched" {
  stub 'begin; [[ $1 == big ]] && succeed 4.75; succeed 0.09'
  spec 'max_cost_usd: 5.00' 'cost_cap_usd: 0.09' 'max_parallel: 4' 'matrix: {params: {x: [big, a, b, c, d]}}'
  run bash driver.sh shard 0
  [ "$status" -eq 0 ]
  run bash driver.sh
  [ "$status" -eq 3 ]
  [ "$(wrote begin | wc -w)" -eq 3 ]
}

@test "what a cell saves of its reservation is given to the next, as soon as it ends" {
  stub 'begin; succeed 0.10'
  spec 'max_cost_usd: 0.80' 'cost_cap_usd: 0.40' 'max_parallel: 4' "$five"
  run bash driver.sh
  [ "$status" -eq 0 ]
  (($(most_at_once) <= 2))
  [ "$(wrote end | wc -w)" -eq 5 ]
}

@test "a cost that nobody knows is charged at its reservation" {
  stub 'begin; finish 0 false null'
  spec 'max_cost_usd: 1.00' 'cost_cap_usd: 0.40' 'max_parallel: 1' "$five"
  run bash driver.sh
  [ "$status" -eq 3 ]
  [ "$(wrote begin)" = "a b" ]
  [ "$(outcomes 0 charged_usd)" = 0.40 ]
}

@test "without a cap nothing is held" {
  stub 'begin; succeed 1000'
  spec "$five"
  run bash driver.sh
  [ "$status" -eq 0 ]
}
