// Machines of one network, for tests: each has a root of its own, which is this machine's with a layer above it that takes all
// changes, and an address on a loopback interface that they share. One shell runs on the first of them. What is started
// there, on whichever machine, ends with the shell.
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

export class Machines {
  #output = '';
  readonly #ended: Promise<unknown>;

  private constructor(
    private readonly folder: string,
    private readonly shell: ChildProcessWithoutNullStreams,
  ) {
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.on('data', (text: Buffer) => (this.#output += text.toString()));
    }
    shell.stdin.on('error', () => undefined);
    this.#ended = once(shell, 'exit');
  }

  /** `files` are laid into each root, by address and path. What lies in `shared` every machine has in `/srv`. */
  static start(options: {
    folder: string;
    shared: string;
    addresses: readonly string[];
    files: ReadonlyMap<string, Readonly<Record<string, string>>>;
  }): Machines {
    const { folder, shared, addresses, files } = options;
    for (const address of addresses) {
      for (const name of ['changes', 'work', 'root']) {
        fs.mkdirSync(path.join(folder, address, name), { recursive: true });
      }
      for (const [file, text] of Object.entries(files.get(address) ?? {})) {
        const target = path.join(folder, address, 'changes', file);
        fs.mkdirSync(path.dirname(target), { recursive: true });
        fs.writeFileSync(target, text, { mode: 0o755 });
      }
    }
    const shell = spawn('unshare', [...OWN, 'sh', '-ec', SET_UP, folder, shared, ...addresses]);
    return new Machines(folder, shell);
  }

  /** Runs a part of a script in the one shell and answers what it printed. Throws where a command of it fails. */
  async run(script: string): Promise<string> {
    const before = this.#output.length;
    this.shell.stdin.write(`{\n${script}\n} </dev/null\nprintf '\\001'\n`);
    while (!this.#output.includes(END, before)) {
      const isOver = await Promise.race([
        once(this.shell.stdout, 'data').then(() => false),
        this.#ended.then(() => true),
      ]);
      if (isOver) assert.fail(`${script}\n\n${this.#output.slice(before)}`);
    }
    return this.#output.slice(before).replace(END, '');
  }

  /** A file as a machine wrote it. */
  file(address: string, name: string): string {
    return path.join(this.folder, address, 'changes', name);
  }

  async close(): Promise<void> {
    this.shell.kill('SIGKILL');
    await this.#ended;
  }
}

export function whyNoMachines(): string | false {
  return spawnSync('unshare', [...OWN, 'ip', 'link', 'set', 'lo', 'up']).status === 0
    ? false
    : 'machines of its own need root, namespaces and ip';
}

const END = '\u0001';
const OWN = ['--mount', '--net', '--pid', '--fork', '--kill-child=SIGKILL'];

/** $0 is the folder, $1 what all share, the addresses follow. The shell is process 1, through which others find the machines. */
const SET_UP = `
  folder=$0 shared=$1 first=$2
  shift
  ip link set lo up
  for address; do
    ip address add "$address/32" dev lo
    at=$folder/$address
    mount -t overlay overlay -o "lowerdir=/,upperdir=$at/changes,workdir=$at/work" "$at/root"
    mount -t proc proc "$at/root/proc"
    mount --bind /dev "$at/root/dev"
    mount --bind "$shared" "$at/root/srv"
  done
  exec env -i "MACHINES=$folder" HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/srv \\
    chroot "$folder/$first/root" env --chdir=/root bash -euo pipefail -s 2>&1`;
