// `npm run torture`: random clients against real servers that are killed, paused and damaged; then a check of all that
// the clients saw (docs/explanation/guarantees.md). Ends with 1 when something was found.
//
//   npm run torture                            some three minutes: the embedded store, etcd, two servers on one etcd, two on three members
//   npm run torture -- --hours 2               longer
//   npm run torture -- --seed 17 --rounds 1    that round again: the same calls and faults, as far as answers let them be
//   npm run torture -- --store etcd --servers 2
//   npm run torture -- --store cluster         three members of etcd, over TLS, behind a network that can be cut and parted
//   npm run torture -- --workers 2             each server with so many worker processes
//   npm run torture -- --faults kill,pause     only those of the list below
import { loadSource } from './bundle.mjs';

const DEFAULT_HOURS = 1 / 20;
const FAULTS_IN_ROUND = 12;
const TARGETS = [
  { store: 'embedded', servers: 1 },
  { store: 'etcd', servers: 1 },
  { store: 'etcd', servers: 2 },
  { store: 'cluster', servers: 2 },
];
const OF_SERVERS = ['kill', 'pause', 'clock', 'slow-disk'];
const OF_ETCD = [...OF_SERVERS, 'kill-etcd', 'pause-etcd'];
const FAULTS = {
  embedded: [...OF_SERVERS, 'full-disk', 'damage'],
  etcd: OF_ETCD,
  cluster: [...OF_ETCD, 'cut-etcd', 'silent-etcd', 'partition-etcd'],
};

const options = readOptions(process.argv.slice(2));
const { torture, showCounts } = await loadSource('test/torture/torture.ts');
const targets = TARGETS.filter(
  ({ store, servers }) =>
    (options.store === undefined || store === options.store) &&
    (options.servers === undefined || servers === Number(options.servers)),
);
if (targets.length === 0)
  fail('there is no such store with so many servers: embedded has one, etcd one or two, cluster two');
const seed = Number(options.seed ?? Math.floor(Math.random() * 1_000_000));
const seconds = (Number(options.hours ?? DEFAULT_HOURS) * 3600) / targets.length;
console.log(`seed ${seed}`);
const problems = [];
for (const { store, servers } of targets) {
  const endMs = performance.now() + seconds * 1000;
  const result = await torture({
    store,
    servers,
    workers: Number(options.workers ?? 1),
    seed,
    faults: options.faults?.split(',') ?? FAULTS[store],
    faultsInRound: FAULTS_IN_ROUND,
    goesOn: (done) => (options.rounds === undefined ? performance.now() < endMs : done < Number(options.rounds)),
    log: (line) => console.log(line),
  });
  console.log(`\n${store}, ${servers} server(s), all rounds: ${showCounts(result.counts)}\n`);
  problems.push(...result.problems);
}
console.log(problems.length === 0 ? 'nothing was found' : `found ${problems.length}:`);
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);

function readOptions(args) {
  const known = ['hours', 'rounds', 'seed', 'store', 'servers', 'workers', 'faults'];
  const given = {};
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i].replace(/^--/, '');
    if (!known.includes(name) || args[i + 1] === undefined)
      fail(`options are ${known.map((one) => `--${one} …`).join(' ')}`);
    given[name] = args[i + 1];
  }
  return given;
}

function fail(text) {
  console.error(text);
  process.exit(2);
}
