// What types and fields are for, in a sentence each: the *.descriptions files beside the catalogue, a group each.
// They hold for every version of the group. Only the OpenAPI documents ask, so a group is read on first use.
import { descriptionTexts } from './generated/description-texts.js';

/** `file` is a file of the catalogue: `apps.v1`. */
export const describeType = (file: string, type: string): string | undefined =>
  linesOf(file).get(type) ?? (type.endsWith('List') ? `A list of ${type.slice(0, -4)} objects.` : undefined);

export const describeField = (file: string, type: string, field: string): string | undefined =>
  linesOf(file).get(`${type}.${field}`) ?? (type.endsWith('List') ? LIST_FIELDS[field] : OBJECT_FIELDS[field]);

/** The described names of a group: `Deployment`, `DeploymentSpec.replicas`. */
export const describedNames = (group: string): Iterable<string> => linesOf(group).keys();

export const describedGroups = (): string[] => Object.keys(descriptionTexts);

const OBJECT_FIELDS: Readonly<Record<string, string>> = {
  metadata: 'What identifies the object and what is noted about it: name, namespace, labels, annotations, owners.',
};
const LIST_FIELDS: Readonly<Record<string, string>> = {
  metadata: 'The resource version of the list, and how to continue it when it came in part.',
  items: 'The objects, in the order of their keys.',
};

const byFile = new Map<string, ReadonlyMap<string, string>>();

function linesOf(file: string): ReadonlyMap<string, string> {
  let lines = byFile.get(file);
  if (lines === undefined) {
    const group = file.split('.', 1)[0] ?? '';
    const text = descriptionTexts[group];
    lines = file !== group ? linesOf(group) : new Map(text === undefined ? [] : text.split('\n').map(splitLine));
    byFile.set(file, lines);
  }
  return lines;
}

function splitLine(line: string): [name: string, sentence: string] {
  const colon = line.indexOf(': ');
  return [line.slice(0, colon), line.slice(colon + 2)];
}
