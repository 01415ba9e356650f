// A command in the presence of a throwaway cluster, from the start of the one to the end of the other.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type AuditLevel, CLUSTER_VARIABLE, type ClusterFacts, CONTROL_VARIABLE } from '../testkit/protocol/control.js';
import { type Host, startHost } from '../testkit/library/host-process.js';
import { openCluster, requestCluster } from '../testkit/library/start-cluster.js';
import type { Cluster, FaultSettings, Manifest } from '../testkit/library/types.js';
import type { CommandParts } from './command.js';
import { makeEnvtestFolder } from './envtest-folder.js';

export interface Run {
  readonly command: { readonly program: string; readonly args: readonly string[] };
  /** Of the server. */
  readonly flags: readonly string[];
  readonly manifests: readonly Manifest[];
  readonly faults: FaultSettings | undefined;
  readonly auditFile: string | undefined;
  readonly auditLevel: AuditLevel;
  readonly keep: boolean;
}

/** What shells say of a command that could not be started, and of one that a signal ended. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const SIGNALLED = 128;
/** The cluster died before the command did. */
const CLUSTER_DIED = 1;

/** Answers the command's exit code. */
export async function runWithCluster(run: Run, parts: CommandParts): Promise<number> {
  const { command, flags, manifests, faults, auditFile, auditLevel, keep } = run;
  // From here on a signal ends the command, and then the rest in order.
  const signals = new SignalsToChild();
  const host = await startHost({ detach: keep });
  try {
    const facts = await requestCluster(host.control, { flags, auditLevel });
    const cluster = await openCluster(host.control, facts, { manifests, ...(faults !== undefined && { faults }) });
    const assets = path.join(path.dirname(host.control.socketPath), 'assets');
    makeEnvtestFolder(assets, parts.env['PATH'] ?? '');
    const env = {
      ...parts.env,
      KUBECONFIG: cluster.kubeconfigPath,
      USE_EXISTING_CLUSTER: 'true',
      KUBEBUILDER_ASSETS: assets,
      [CONTROL_VARIABLE]: host.control.socketPath,
      [CLUSTER_VARIABLE]: facts.id,
    };
    const code =
      signals.received ??
      (await runBeside(host, signals.to(spawn(command.program, command.args, { stdio: 'inherit', env })), parts));
    if (auditFile !== undefined) await writeAudit(cluster, auditFile);
    if (keep) sayKept(facts, host, parts);
    else await host.end();
    return code;
  } catch (error) {
    await host.end();
    throw error;
  }
}

/** A command whose cluster is gone cannot end well: it gets a signal to end. */
async function runBeside(host: Host, child: ChildProcess, { printError }: CommandParts): Promise<number> {
  const ended = new Promise<number>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      printError(`error: ${error.message}\n`);
      resolve(error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE);
    });
    child.once('exit', (code, signal) => resolve(code ?? SIGNALLED + (os.constants.signals[signal ?? 'SIGTERM'] ?? 0)));
  });
  const first = await Promise.race([ended, host.ended.then((how) => ({ how }))]);
  if (typeof first === 'number') return first;
  printError(`error: the cluster has ended: ${first.how}\n`);
  child.kill('SIGTERM');
  await ended;
  return CLUSTER_DIED;
}

/** Ctrl-C reaches the command by itself, being in the same terminal; other signals are passed on to it. */
class SignalsToChild {
  /** The exit code that a signal stands for which came before there was a command. */
  received: number | undefined;
  #child: ChildProcess | undefined;

  constructor() {
    process.on('SIGINT', () => this.#early('SIGINT'));
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        this.#early(signal);
        this.#child?.kill(signal);
      });
    }
  }

  to(child: ChildProcess): ChildProcess {
    this.#child = child;
    return child;
  }

  #early(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
    if (this.#child === undefined) this.received = SIGNALLED + os.constants.signals[signal];
  }
}

async function writeAudit(cluster: Cluster, file: string): Promise<void> {
  const lines = (await cluster.audit()).map((event) => `${JSON.stringify(event)}\n`);
  fs.writeFileSync(file, lines.join(''), { mode: 0o600 });
}

function sayKept({ id, kubeconfigPath }: ClusterFacts, { control }: Host, { printError }: CommandParts): void {
  printError(`The cluster runs on: export KUBECONFIG=${kubeconfigPath}
To stop it: binnacle cluster stop --id=${id} --control=${control.socketPath}
`);
}
