// Runs the files of an image by an OCI runtime, as container engines do: a bundle with the image's own settings, a root that is
// read only, no capabilities, and namespaces of its own but for the network, so that the test reaches it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();

/** The runtime at hand; undefined when there is none. */
export function ociRuntime(): string | undefined {
  const folders = [path.join(root, '.cache', 'bin'), ...(process.env['PATH'] ?? '').split(path.delimiter)];
  return ['runc', 'crun']
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => fs.existsSync(file));
}

export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface ContainerOptions {
  readonly runtime: string;
  /** Has the image's files in `rootfs`; becomes the bundle. */
  readonly bundle: string;
  readonly config: ImageConfig;
  readonly args: readonly string[];
  /** Folders that are mounted: what is there, by where it is in the container. */
  readonly volumes: Readonly<Record<string, string>>;
}

export class Container {
  readonly process: ChildProcess;
  log = '';
  readonly #id = `binnacle-test-${process.pid}`;
  readonly #runtime: readonly [string, ...string[]];

  constructor(private readonly options: ContainerOptions) {
    const { runtime, bundle } = options;
    fs.writeFileSync(path.join(bundle, 'config.json'), JSON.stringify(bundleOf(options)));
    this.#runtime = [runtime, ...globalOptions(runtime), '--root', path.join(bundle, 'state')];
    const child = this.#start('run', '--bundle', bundle, this.#id);
    child.stderr.on('data', (text: Buffer) => (this.log += text.toString()));
    this.process = child;
  }

  /** Whether the image's own health check, run in the container, says that it is well. */
  isHealthy(): boolean {
    return this.exec(...this.options.config.Healthcheck.Test.slice(1)).code === 0;
  }

  exec(...words: string[]): { readonly code: number | null; readonly out: string } {
    const [file, ...global] = this.#runtime;
    const { status, stdout, stderr } = spawnSync(file, [...global, 'exec', this.#id, ...words], { encoding: 'utf8' });
    return { code: status, out: stdout + stderr };
  }

  signal(name: string): void {
    const [file, ...global] = this.#runtime;
    spawnSync(file, [...global, 'kill', this.#id, name]);
  }

  /** Whatever state it is in. */
  async end(): Promise<void> {
    const [file, ...global] = this.#runtime;
    spawnSync(file, [...global, 'delete', '--force', this.#id]);
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
  }

  #start(...words: string[]) {
    const [file, ...global] = this.#runtime;
    return spawn(file, [...global, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

/** Groups of processes are not limited here, and not every machine lets them be made. */
const globalOptions = (runtime: string): string[] =>
  path.basename(runtime) === 'crun' ? ['--cgroup-manager=disabled'] : [];

function bundleOf({ config, args, volumes }: ContainerOptions): object {
  const [uid = 0, gid = 0] = config.User.split(':').map(Number);
  return {
    ociVersion: '1.0.2',
    root: { path: 'rootfs', readonly: true },
    process: {
      user: { uid, gid },
      args,
      env: config.Env,
      cwd: config.WorkingDir,
      noNewPrivileges: true,
      capabilities: { bounding: [], effective: [], permitted: [] },
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
      ...Object.entries(volumes).map(([destination, source]) => ({
        destination,
        type: 'bind',
        source,
        options: ['bind', 'rw', 'nosuid', 'nodev'],
      })),
    ],
    linux: {
      namespaces: [{ type: 'pid' }, { type: 'mount' }, { type: 'ipc' }, { type: 'uts' }],
      maskedPaths: ['/proc/kcore'],
      readonlyPaths: ['/proc/sys'],
    },
  };
}
