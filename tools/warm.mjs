// Starts the server once, in a folder that is thrown away, so that V8's compiled code is there for the first real
// start: without it that takes half as long again. Only a help: whatever goes wrong here, the server starts without.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.mjs';

const GIVE_UP_MS = 15_000;
const LOOK_MS = 100;
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
// One of an earlier build is of no use.
for (const name of caches()) fs.rmSync(path.join(dist, name));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-warm-'));
const flags = [`--data-dir=${folder}`, '--authorization-mode=RBAC', '--bind-address=127.0.0.1'];
const server = spawn(path.join(root, 'bin', 'binnacle'), [...flags, `--secure-port=${await freePort()}`], {
  stdio: 'ignore',
});
const ended = new Promise((resolve) => server.on('close', resolve).on('error', resolve));
const giveUpMs = Date.now() + GIVE_UP_MS;
while (caches().length === 0 && server.exitCode === null && server.pid !== undefined && Date.now() < giveUpMs) {
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
server.kill('SIGTERM');
await ended;
fs.rmSync(folder, { recursive: true, force: true });

function caches() {
  return fs.readdirSync(dist).filter((name) => name.endsWith('.v8'));
}
