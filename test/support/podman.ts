// Podman, as tools/fetch-test-binaries.mjs fetched it or as it is installed, with images and containers in a folder of its own.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const bin = path.join(root, '.cache', 'bin');

export class Podman {
  readonly #words: readonly string[];

  private constructor(
    private readonly program: string,
    private readonly folder: string,
  ) {
    const isFetched = program.startsWith(bin);
    this.#words = [
      `--root=${path.join(folder, 'storage')}`,
      `--runroot=${path.join(folder, 'run')}`,
      '--storage-driver=vfs',
      '--cgroup-manager=cgroupfs',
      '--events-backend=file',
      ...(isFetched ? [`--conmon=${path.join(bin, 'conmon')}`, `--runtime=${path.join(bin, 'runc')}`] : []),
    ];
  }

  /** Undefined where there is none that can run a container's processes here, `why` says what is missing. */
  static open(folder: string): { readonly podman?: Podman; readonly why: string } {
    const folders = [bin, ...(process.env['PATH'] ?? '').split(path.delimiter)];
    const program = folders.map((each) => path.join(each, 'podman')).find((file) => fs.existsSync(file));
    if (program === undefined) return { why: 'there is no podman: run `node tools/fetch-test-binaries.mjs`' };
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}');
    const podman = new Podman(program, folder);
    const { status, stderr } = podman.#start('info');
    return status === 0 ? { podman, why: '' } : { why: `podman does not work here: ${stderr.trim()}` };
  }

  /** What it prints. Throws where it does not end with 0. */
  run(...words: string[]): string {
    const { status, stdout, stderr } = this.#start(...words);
    if (status !== 0) throw new Error(`podman ${words.join(' ')}: ${status}\n${stdout}${stderr}`);
    return stdout.trim();
  }

  succeeds(...words: string[]): boolean {
    return this.#start(...words).status === 0;
  }

  /** Loads an archive and answers the name of its image. */
  load(archive: string): string {
    const printed = this.run(
      'load',
      `--signature-policy=${path.join(this.folder, 'policy.json')}`,
      `--input=${archive}`,
    );
    return /^Loaded image: (\S+)$/m.exec(printed)?.[1] ?? '';
  }

  #start(...words: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
    const env = { ...process.env, HOME: this.folder, LD_LIBRARY_PATH: path.join(bin, 'lib') };
    return spawnSync(this.program, [...this.#words, ...words], { encoding: 'utf8', env });
  }
}
