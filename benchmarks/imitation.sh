#!/bin/sh
# Chess by imitation with the best encoder and net: two million positions, one GPU, about ten minutes.
# Usage: benchmarks/imitation.sh FOLDER; PYTHON names the interpreter, DEVICE, GAMES (for each of 8 seeds), NETWORK,
# EPOCHS and BATCH what their names say.
set -eu
folder=$1
python=${PYTHON:-python}
mkdir -p "$folder"
export OMP_NUM_THREADS=1
$python -m plyground teach collect --games 1 --max-plies 2 --out "$folder/compiled.ndjson"
for seed in 0 1 2 3 4 5 6 7; do
    $python -m plyground teach collect --seed $seed --games "${GAMES:-6500}" --weak-games 0.75 --threads 2 \
        --out "$folder/teacher-$seed.ndjson" &
done
wait
unset OMP_NUM_THREADS
$python -m plyground teach inspect "$folder/teacher-0.ndjson"
$python -m plyground teach imitate --data "$folder"/teacher-?.ndjson --encoder planes --network "${NETWORK:-b8c128-pairs}" \
    --epochs "${EPOCHS:-6}" --batch "${BATCH:-1024}" --lr 0.001 --val-split 0.05 --device "${DEVICE:-cuda}" --threads 8 \
    --out "$folder/imitation"
$python -m plyground teach verify "$folder/imitation"
