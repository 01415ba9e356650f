// A folder of programs as controller-runtime's envtest looks for them.
import fs from 'node:fs';
import path from 'node:path';

const OWN_PROGRAMS = path.join(__dirname, '..', 'bin');

/** Where each program is; kubectl only where it could be found. */
export function makeEnvtestFolder(folder: string, searchPath: string): Readonly<Record<string, string>> {
  fs.mkdirSync(folder, { recursive: true });
  const programs: Record<string, string> = {};
  for (const name of ['kube-apiserver', 'etcd']) programs[name] = path.join(OWN_PROGRAMS, name);
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
