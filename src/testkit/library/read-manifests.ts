// Manifests as objects: texts of several documents, files, folders and lists taken apart.
import fs from 'node:fs';
import path from 'node:path';
import { parseYaml } from '../../schema/yaml/parse.js';
import type { KubernetesObject, Manifest, Manifests } from './types.js';

const MANIFEST_FILE = /\.(?:ya?ml|json)$/;
/** A line that ends a document, as kubectl has it. */
const SEPARATOR = /^---.*$/m;

export function readManifests(manifests: Manifests): KubernetesObject[] {
  const list: readonly Manifest[] = Array.isArray(manifests) ? manifests : [manifests as Manifest];
  return list.flatMap((one) => {
    if (typeof one === 'string') return readText(one, 'the text');
    return isPath(one) ? filesOf(one.path).flatMap(readFile) : flatten(one, 'the object');
  });
}

const isPath = (one: KubernetesObject | { readonly path: string }): one is { readonly path: string } =>
  'path' in one && typeof one.path === 'string' && !('kind' in one);

/** A folder's files in the order of their names, folders below it included. */
function filesOf(file: string): string[] {
  if (!fs.statSync(file).isDirectory()) return [file];
  const entries = fs.readdirSync(file, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const full = path.join(file, entry.name);
    if (entry.isDirectory()) return filesOf(full);
    return MANIFEST_FILE.test(entry.name) ? [full] : [];
  });
}

const readFile = (file: string): KubernetesObject[] => readText(fs.readFileSync(file, 'utf8'), file);

function readText(text: string, where: string): KubernetesObject[] {
  return text.split(SEPARATOR).flatMap((document) => {
    const value = parse(document, where);
    return value === null || value === undefined ? [] : flatten(value, where);
  });
}

function parse(document: string, where: string): unknown {
  try {
    return parseYaml(document).value;
  } catch (error) {
    throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
  }
}

function flatten(value: unknown, where: string): KubernetesObject[] {
  const object = value as Partial<KubernetesObject>;
  if (typeof object !== 'object' || typeof object.apiVersion !== 'string' || typeof object.kind !== 'string') {
    throw new Error(`${where}: a manifest needs apiVersion and kind`);
  }
  const { kind, items } = object as KubernetesObject & { items?: unknown };
  if (!kind.endsWith('List') || !Array.isArray(items)) return [object as KubernetesObject];
  return items.flatMap((item) => flatten(item, where));
}
