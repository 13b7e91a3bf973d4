# seeds: 4 cells through the runner command, at most 4 at a time.
# The cells as targets of make, each one call of the driver; made by sweeptool 0.1.0.
#
#   sweeptool render sweep.yaml > driver.sh
#   sweeptool render --target=make sweep.yaml > sweep.mk
#   make -k -j 4 -f sweep.mk
#
# Running it again goes on with what is missing. One cell: make -f sweep.mk ID. The cells: make -f sweep.mk list.
# From elsewhere: make -C DIR -f sweep.mk. make exits 2 where a cell failed or was left; 'make -f sweep.mk status' says.

.DEFAULT_GOAL := all
.PHONY: all list status begin

all: 42-3fcu2sg5gr 42-r1-sdcxjgdw6e 43-jkitbwmb26 43-r1-jebeqmq2hx
	@exec bash "$${DRIVER:-driver.sh}" --cells bef5b347ce68 end

list:
	@exec bash "$${DRIVER:-driver.sh}" list

status:
	@exec "$${SWEEPTOOL:-sweeptool}" status seeds

# Before the first cell: the checks and the spec's 'before'.
begin:
	@exec bash "$${DRIVER:-driver.sh}" --cells bef5b347ce68 begin

.PHONY: 42-3fcu2sg5gr
42-3fcu2sg5gr: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells bef5b347ce68 shard 0

.PHONY: 42-r1-sdcxjgdw6e
42-r1-sdcxjgdw6e: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells bef5b347ce68 shard 1

.PHONY: 43-jkitbwmb26
43-jkitbwmb26: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells bef5b347ce68 shard 2

.PHONY: 43-r1-jebeqmq2hx
43-r1-jebeqmq2hx: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells bef5b347ce68 shard 3
