// `npm start`: a whole server for trying things out, kept in one folder, with an administrator's kubeconfig.
//
//   npm start -- --secure-port=7443          further flags go to the server
//   npm start -- --bind-address=0.0.0.0      for others than this machine
import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const state = process.env.XDG_STATE_HOME?.startsWith('/')
  ? process.env.XDG_STATE_HOME
  : path.join(os.homedir(), '.local', 'state');
const dataDir = path.resolve(flag('data-dir') ?? path.join(state, 'binnacle'));
const flags = [
  // Who only tries it out opens no door: the program itself listens on every interface, as kube-apiserver does.
  ...(flag('bind-address') === undefined ? ['--bind-address=127.0.0.1'] : []),
  '--authorization-mode=Node,RBAC',
  '--service-cluster-ip-range=10.0.0.0/24',
  '--allow-privileged=true',
  '--controllers=*',
  `--data-dir=${dataDir}`,
  ...given,
];

const server = spawn(path.join(root, 'bin', 'binnacle'), flags, { stdio: ['inherit', 'inherit', 'pipe'] });
let beginning = '';
server.stderr.on('data', (text) => {
  process.stderr.write(text);
  if (beginning === undefined) return;
  beginning += text;
  if (!beginning.includes('Serving securely on')) return;
  beginning = undefined;
  const kubeconfig = path.join(dataDir, 'admin.kubeconfig');
  console.log(`\nReady. Try:\n\n  kubectl --kubeconfig ${kubeconfig} get namespaces\n`);
});
// Ctrl-C reaches the server by itself, being in the same terminal; this process waits for its end.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => server.kill('SIGTERM'));
server.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));

function flag(name) {
  const at = given.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  if (at < 0) return undefined;
  return given[at].includes('=') ? given[at].slice(name.length + 3) : given[at + 1];
}
