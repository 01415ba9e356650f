// The npm package as a user gets it: packed from this checkout, installed into an empty folder.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface Package {
  readonly tarball: string;
  readonly sizeBytes: number;
  readonly files: readonly PackedFile[];
}

/** Of `dist/` as it is: a test does not build under the feet of others. */
export function packPackage(folder: string): Package {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const printed = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(printed) as { filename: string; size: number; files: PackedFile[] }[];
  if (packed === undefined) throw new Error(`npm pack printed ${printed}`);
  return { tarball: path.join(folder, packed.filename), sizeBytes: packed.size, files: packed.files };
}

/** Without scripts and without development dependencies. Undefined where the registry cannot be reached. */
export function installPackage(tarball: string, folder: string, ...options: string[]): string | undefined {
  const args = ['install', ...options, '--prefix', folder, '--ignore-scripts', '--prefer-offline', tarball];
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (status === 0) return folder;
  if (NO_REGISTRY.some((code) => stderr.includes(`code ${code}`))) return undefined;
  throw new Error(`npm ${args.join(' ')}: ${stderr}`);
}

const NO_REGISTRY = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ENOTCACHED', 'ETIMEDOUT'];

/** A folder that every user may read, unlike those of mkdtemp. */
export function openFolder(name: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `binnacle-${name}-`));
  fs.chmodSync(folder, 0o755);
  return folder;
}
