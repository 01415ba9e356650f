// Starts bin/binnacle for `binnacle up`: in the foreground, with its log on the terminal, or in the background, with its log
// in the data folder.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandFailure, type CommandParts, EXIT } from './command.js';
import type { LocalServer } from './local-server.js';
import { progress } from './terminal.js';

const PROGRAM_FILE = path.join(__dirname, '..', 'bin', 'binnacle');
/** What the server logs once its port is open. */
const SERVING = 'Serving securely on';
const PORT_TAKEN = 'address already in use';
const MAX_ATTEMPTS = 3;
const MAX_START_MS = 120_000;
const LOOK_MS = 50;
const MAX_SHOWN_LINES = 20;

export interface Start {
  readonly server: LocalServer;
  readonly parts: CommandParts;
  /** Asked again, with the next number, when the port was taken in between. */
  readonly flagsFor: (attempt: number) => Promise<string[]>;
  /** Whether another attempt would be with another port. */
  readonly choosesPort: boolean;
}

/** Answers the server's exit code. */
export async function startInForeground({ server, parts, flagsFor }: Start): Promise<number> {
  const child = spawn(process.execPath, [PROGRAM_FILE, ...(await flagsFor(0))], {
    stdio: ['inherit', 'inherit', 'pipe'],
  });
  let seen: string | undefined = '';
  child.stderr.on('data', (bytes: Buffer) => {
    parts.printError(bytes.toString());
    if (seen === undefined) return;
    seen += bytes.toString();
    if (!seen.includes(SERVING)) return;
    seen = undefined;
    parts.print(`\n${tryLine(server)}\n`);
  });
  // Ctrl-C reaches the server by itself, being in the same terminal; this process waits for its end.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) =>
    child.on('exit', (code, signal) => resolve(code ?? (signal === null ? EXIT.failed : 130))),
  );
}

export async function startInBackground({ server, parts, flagsFor, choosesPort }: Start): Promise<number> {
  const isNewFolder = !fs.existsSync(server.dataDir);
  for (let attempt = 0; ; attempt++) {
    const clear = progress('Starting …', parts);
    const child = spawnDetached(server, await flagsFor(attempt));
    const isUp = await waitUntilServing(server, child);
    clear();
    if (isUp) break;
    const log = fs.readFileSync(server.logFile, 'utf8').trimEnd();
    if (choosesPort && log.includes(PORT_TAKEN) && attempt + 1 < MAX_ATTEMPTS) continue;
    if (isNewFolder) removeNew(server);
    parts.printError(`${log.split('\n').slice(-MAX_SHOWN_LINES).join('\n')}\n`);
    throw new CommandFailure('the server did not start');
  }
  parts.print(`Serving on ${server.url() ?? server.dataDir}\n\n${tryLine(server)}`);
  return EXIT.done;
}

const tryLine = ({ kubeconfigFile }: LocalServer): string =>
  `Ready. Try:\n\n  kubectl --kubeconfig ${kubeconfigFile} get namespaces\n`;

/** The log of the start before is kept beside the new one. */
function spawnDetached({ dataDir, logFile }: LocalServer, flags: readonly string[]): ChildProcess {
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (fs.existsSync(logFile)) fs.renameSync(logFile, `${logFile}.old`);
  const log = fs.openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, [PROGRAM_FILE, ...flags], { detached: true, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  child.unref();
  return child;
}

/** False when it has ended. */
async function waitUntilServing(server: LocalServer, child: ChildProcess): Promise<boolean> {
  let isServing = false;
  for (let waitedMs = 0; waitedMs < MAX_START_MS; waitedMs += LOOK_MS) {
    if (child.exitCode !== null || child.signalCode !== null) return false;
    isServing ||= fs.readFileSync(server.logFile, 'utf8').includes(SERVING);
    if (isServing && (await server.readiness()) !== 'not ready') return true;
    await delay(LOOK_MS);
  }
  throw new CommandFailure(`the server is not ready yet; \`binnacle status\` tells when, ${server.logFile} why`);
}

/** A start that is refused leaves nothing behind. */
function removeNew({ dataDir, logFile }: LocalServer): void {
  for (const file of [logFile, `${logFile}.old`]) fs.rmSync(file, { force: true });
  if (fs.readdirSync(dataDir).length === 0) fs.rmdirSync(dataDir);
}
