// A folder of programs as controller-runtime's envtest looks for them.
import fs from 'node:fs';
import path from 'node:path';

const OWN_PROGRAMS = path.join(__dirname, '..', 'bin');

/** Where each program is that could be found; `kube-apiserver` always is. */
export function makeEnvtestFolder(folder: string, searchPath: string): Readonly<Record<string, string>> {
  fs.mkdirSync(folder, { recursive: true });
  const programs: Record<string, string> = { 'kube-apiserver': path.join(OWN_PROGRAMS, 'kube-apiserver') };
  const etcd = existing(path.join(OWN_PROGRAMS, 'etcd')) ?? findProgram('etcd', searchPath);
  if (etcd !== undefined) programs['etcd'] = etcd;
  const kubectl = findProgram('kubectl', searchPath);
  if (kubectl !== undefined) programs['kubectl'] = kubectl;
  for (const [name, file] of Object.entries(programs)) link(file, path.join(folder, name));
  return programs;
}

/** Whatever was there is replaced, also a link that leads nowhere. */
function link(file: string, at: string): void {
  fs.rmSync(at, { force: true });
  fs.symlinkSync(fs.realpathSync(file), at);
}

const existing = (file: string): string | undefined => (fs.existsSync(file) ? file : undefined);

export function findProgram(name: string, searchPath: string): string | undefined {
  const folders = searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
