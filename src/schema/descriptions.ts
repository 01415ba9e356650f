// What types and fields are for, in a sentence each: the *.descriptions files beside the catalogue, one per group.
// They hold for every version of the group. Only the OpenAPI documents need them, so a group is read on first use.
import { descriptionTexts } from './generated/description-texts.js';

/** `file` is a file of the catalogue: `apps.v1`. */
export function describeType(file: string, type: string): string | undefined {
  const { sentences, borrowed } = groupOf(file);
  const own = sentences.get(type) ?? sentences.get(borrowed.get(type) ?? '');
  if (own !== undefined) return own;
  if (type.endsWith('List')) return `A list of ${type.slice(0, -'List'.length)} objects.`;
  return type.endsWith('Condition') ? 'One aspect of the state of an object.' : undefined;
}

export function describeField(file: string, type: string, field: string): string | undefined {
  const { sentences, borrowed } = groupOf(file);
  const lender = borrowed.get(type);
  return (
    sentences.get(`${type}.${field}`) ??
    (lender === undefined ? undefined : sentences.get(`${lender}.${field}`)) ??
    commonFields(type)[field]
  );
}

export const describedGroups = (): string[] => Object.keys(descriptionTexts);

/** All that a group describes: `Deployment`, `DeploymentSpec.replicas`. */
export const describedNames = (group: string): ReadonlyMap<string, string> => groupOf(group).sentences;

/** Which types of a group lack sentences of their own, and whose they share. */
export const borrowedNames = (group: string): ReadonlyMap<string, string> => groupOf(group).borrowed;

/** Fields that mean the same in every type of a sort. */
function commonFields(type: string): Readonly<Record<string, string>> {
  if (type.endsWith('List')) return LIST_FIELDS;
  return type.endsWith('Condition') ? CONDITION_FIELDS : OBJECT_FIELDS;
}

const OBJECT_FIELDS: Readonly<Record<string, string>> = {
  // The conformance suite looks for the first three words.
  metadata: "Standard object's metadata, by which it is known and found: name, namespace, labels, annotations, owners.",
  spec: 'What is asked for. Controllers work towards it.',
  status: 'What was last observed. Written by controllers; other writes leave it alone.',
};
const LIST_FIELDS: Readonly<Record<string, string>> = {
  metadata: 'The resource version of the list, and how to continue it when it came in part.',
  items: 'The objects, in the order of their keys.',
};
const CONDITION_FIELDS: Readonly<Record<string, string>> = {
  type: 'Which aspect, in CamelCase or with a domain in front. Unique in its list.',
  status: '`True`, `False` or `Unknown`.',
  lastTransitionTime: 'When the status last changed from one value to another.',
  reason: 'A CamelCase word for why it changed last, for programs.',
  message: 'Why it changed last, for people; may be empty.',
};

interface Group {
  readonly sentences: ReadonlyMap<string, string>;
  readonly borrowed: ReadonlyMap<string, string>;
}

const groups = new Map<string, Group>();

function groupOf(file: string): Group {
  let group = groups.get(file);
  if (group === undefined) {
    const name = file.split('.', 1)[0] ?? '';
    group = name === file ? parseGroup(descriptionTexts[name] ?? '') : groupOf(name);
    groups.set(file, group);
  }
  return group;
}

/** Lines are `Name: sentence`, or `Type = Other`. */
function parseGroup(text: string): Group {
  const sentences = new Map<string, string>();
  const borrowed = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(': ');
    const equals = line.indexOf(' = ');
    if (equals > 0 && (colon < 0 || equals < colon)) borrowed.set(line.slice(0, equals), line.slice(equals + 3));
    else if (colon > 0) sentences.set(line.slice(0, colon), line.slice(colon + 2));
  }
  return { sentences, borrowed };
}
