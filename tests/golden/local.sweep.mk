# rates: 4 cells through the runner local, at most 2 at a time, at most $1.00.
# The cells as targets of make, each one call of the driver; made by sweeptool 0.1.0.
#
#   sweeptool render sweep.yaml > driver.sh
#   sweeptool render --target=make sweep.yaml > sweep.mk
#   make -k -j 2 -f sweep.mk
#
# Running it again goes on with what is missing. One cell: make -f sweep.mk ID. The cells: make -f sweep.mk list.
# From elsewhere: make -C DIR -f sweep.mk. make exits 2 where a cell failed or was left; 'make -f sweep.mk status' says.

.DEFAULT_GOAL := all
.PHONY: all list status begin

all: L4-1e_3-34hpyz34ba L4-a_b-43xfwyui5z A10-1e_3-d4innut4ek A10-a_b-ydfqs4olxb
	@exec bash "$${DRIVER:-driver.sh}" --cells 25468508347f end

list:
	@exec bash "$${DRIVER:-driver.sh}" list

status:
	@exec "$${SWEEPTOOL:-sweeptool}" status rates

# Before the first cell: the checks and the spec's 'before'.
begin:
	@exec bash "$${DRIVER:-driver.sh}" --cells 25468508347f begin

.PHONY: L4-1e_3-34hpyz34ba
L4-1e_3-34hpyz34ba: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells 25468508347f shard 0

.PHONY: L4-a_b-43xfwyui5z
L4-a_b-43xfwyui5z: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells 25468508347f shard 1

.PHONY: A10-1e_3-d4innut4ek
A10-1e_3-d4innut4ek: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells 25468508347f shard 2

.PHONY: A10-a_b-ydfqs4olxb
A10-a_b-ydfqs4olxb: | begin
	@exec bash "$${DRIVER:-driver.sh}" --cells 25468508347f shard 3
