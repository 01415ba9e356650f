// Where dist/etcd.cjs begins: one command alone, so that it starts quickly.
import { etcd } from './etcd.js';
import { runEtcd } from './etcd/run.js';
import { runCommand } from './run-command.js';

/** Node cuts small buffers from slabs of this size. Each call takes several; the default is 8. */
Buffer.poolSize = 64 * 1024;

void runCommand({ ...etcd, run: runEtcd }, process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  columns: process.stdout.isTTY ? process.stdout.columns : 0,
  showsProgress: false,
}).then((code) => process.exit(code));
