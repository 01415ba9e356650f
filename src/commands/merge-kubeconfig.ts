// Puts one cluster, its user and its context into a kubeconfig that others write as well.
import fs from 'node:fs';
import path from 'node:path';
import { isPlainObject } from '../lib/values/plain-object.js';
import { parseYaml } from '../schema/yaml/parse.js';
import { encodeYaml } from '../schema/yaml/encode.js';
import { CommandFailure } from './command.js';

export interface Merge {
  /** The kubeconfig of one server, as text. */
  readonly own: string;
  /** Which is written into; made where it is missing. */
  readonly file: string;
  /** Of the cluster, the user and the context there. */
  readonly name: string;
  readonly isCurrent: boolean;
}

type Tree = Record<string, unknown>;

/** Holds the lock that kubectl holds while it writes, and replaces the file as a whole. */
export function mergeKubeconfig({ own, file, name, isCurrent }: Merge): void {
  const target = fs.existsSync(file) ? fs.realpathSync(file) : file;
  fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
  const unlock = lockFile(`${target}.lock`);
  try {
    const before = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : '';
    const merged = encodeYaml(mergedTree(treeOf(before, target), treeOf(own, 'the own kubeconfig'), name, isCurrent));
    const temporary = `${target}.${process.pid}`;
    fs.writeFileSync(temporary, merged, { mode: 0o600 });
    fs.renameSync(temporary, target);
  } finally {
    unlock();
  }
}

function mergedTree(target: Tree, own: Tree, name: string, isCurrent: boolean): Tree {
  const put = (list: string, member: string, value: unknown): unknown[] => {
    const others = listOf(target, list).filter((entry) => !isPlainObject(entry) || entry['name'] !== name);
    return [...others, { name, [member]: value }];
  };
  const first = (list: string, member: string): unknown => {
    const [entry] = listOf(own, list);
    return isPlainObject(entry) ? entry[member] : undefined;
  };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    'current-context': '',
    ...target,
    clusters: put('clusters', 'cluster', first('clusters', 'cluster')),
    users: put('users', 'user', first('users', 'user')),
    contexts: put('contexts', 'context', { cluster: name, user: name }),
    ...(isCurrent && { 'current-context': name }),
  };
}

function treeOf(text: string, where: string): Tree {
  if (text.trim() === '') return {};
  let tree: unknown;
  try {
    tree = parseYaml(text).value;
  } catch (error) {
    throw new CommandFailure(`${where} is not YAML: ${String(error)}`, { cause: error });
  }
  if (!isPlainObject(tree) || (tree['kind'] !== undefined && tree['kind'] !== 'Config')) {
    throw new CommandFailure(`${where} is not a kubeconfig; nothing was changed`);
  }
  return tree;
}

/** What is null there is an empty list, as client-go has it. */
const listOf = (tree: Tree, list: string): readonly unknown[] => {
  const value = tree[list] ?? [];
  if (!Array.isArray(value)) throw new CommandFailure(`${list} is not a list; nothing was changed`);
  return value as readonly unknown[];
};

function lockFile(lock: string): () => void {
  try {
    fs.closeSync(fs.openSync(lock, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CommandFailure(`${lock} is there: another program is writing. If none is, remove it`, { cause: error });
  }
  return () => fs.rmSync(lock, { force: true });
}
