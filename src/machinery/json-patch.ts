// JSON patch (RFC 6902), with kube-apiserver's liberties: `replace` may set a member that is not there, negative
// array indices count from the end.
import { FloatLiteral, isJsonObject } from '../lib/json/float-literal.js';
import { setMember } from '../lib/values/plain-object.js';
import { cannotUnmarshal, goJsonKind } from '../lib/go/json-kind.js';
import { jsonText } from '../lib/json/stringify.js';
import { badRequest, StatusError } from './status.js';
import type { JsonObject } from './object.js';

/** What `copy` may add in total, as JSON text: kube-apiserver's limit for one request body, three times etcd's. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/** Why a well-formed patch does not apply. */
export class JsonPatchError extends Error {}

/** A `test` among its operations did not hold. */
export class JsonPatchTestFailed extends JsonPatchError {}

/**
 * The patched document; `document` and `patch` are parsed JSON and stay as they are. Throws StatusError for what is
 * no patch and JsonPatchError for a patch that does not apply. `unmatchable` has the places of tests that hold for nothing
 * but what the patch itself has put there.
 */
export function applyJsonPatch(document: JsonObject, patch: unknown, unmatchable?: ReadonlySet<number>): unknown {
  const operations = jsonPatchOperations(patch);
  const state: State = { root: document, owned: new Set(), copiedBytes: 0 };
  let puts = false;
  for (const [index, operation] of operations.entries()) {
    const isTest = operation?.['op'] === 'test';
    if (isTest && !puts && unmatchable?.has(index) === true) throw new JsonPatchTestFailed('test failed');
    applyOperation(state, operation ?? {});
    puts ||= !isTest;
  }
  return state.root;
}

/** The operations of what must be a patch. Throws StatusError. */
export function jsonPatchOperations(patch: unknown): readonly (JsonObject | null)[] {
  if (!Array.isArray(patch)) {
    throw badRequest(cannotUnmarshal(patch, 'Go value of type jsonpatch.Patch'));
  }
  for (const operation of patch) {
    if (operation !== null && goJsonKind(operation) !== 'object') {
      throw badRequest(cannotUnmarshal(operation, 'Go value of type jsonpatch.Operation'));
    }
  }
  return patch as readonly (JsonObject | null)[];
}

/** What the API answers when a JSON patch does not apply: no word of the reason. */
export const jsonPatchRefused = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

interface State {
  root: unknown;
  /** Containers made by this patch, which may therefore be changed in place. */
  readonly owned: Set<object>;
  copiedBytes: number;
}

type Container = JsonObject | unknown[];

const isContainer = (value: unknown): value is Container => Array.isArray(value) || isJsonObject(value);

function applyOperation(state: State, operation: JsonObject): void {
  const kind = typeof operation['op'] === 'string' ? operation['op'] : 'unknown';
  switch (kind) {
    case 'add':
      return add(state, operation);
    case 'remove':
      return remove(state, operation);
    case 'replace':
      return replace(state, operation);
    case 'move':
      return move(state, operation);
    case 'test':
      return test(state, operation);
    case 'copy':
      return copy(state, operation);
    default:
      throw new JsonPatchError(`Unexpected kind: ${kind}`);
  }
}

function add(state: State, operation: JsonObject): void {
  const path = pointer(operation, 'path', 'add operation failed to decode path');
  const place = find(state, path);
  if (place === undefined) missing(`add operation does not apply: doc is missing path: "${path}"`);
  within(`error in add for path: '${path}'`, () => insert(place, operation['value'] ?? null));
}

function remove(state: State, operation: JsonObject): void {
  const path = pointer(operation, 'path', 'remove operation failed to decode path');
  const place = find(state, path);
  if (place === undefined) missing(`remove operation does not apply: doc is missing path: "${path}"`);
  within(`error in remove for path: '${path}'`, () => erase(place));
}

function replace(state: State, operation: JsonObject): void {
  const path = pointer(operation, 'path', 'replace operation failed to decode path: operation missing path field');
  if (path === '') {
    const value = operation['value'];
    // The whole is not replaced by what has no members: kube-apiserver means to refuse it, and passes it over.
    if (isContainer(value)) state.root = value;
    return;
  }
  const place = find(state, path);
  if (place === undefined) missing(`replace operation does not apply: doc is missing path: ${path}`);
  const { container, key } = place;
  if (!Array.isArray(container)) {
    setMember(container, key, operation['value'] ?? null);
    return;
  }
  let index: number;
  try {
    index = elementIndex(container, key);
  } catch {
    missing(`replace operation does not apply: doc is missing key: ${path}`);
  }
  container[index] = operation['value'] ?? null;
}

function move(state: State, operation: JsonObject): void {
  const from = pointer(operation, 'from', 'move operation failed to decode from: operation, missing from field');
  const source = find(state, from);
  if (source === undefined) missing(`move operation does not apply: doc is missing from path: ${from}`);
  const value = within(`error in move for path: '${source.key}'`, () => {
    const found = read(source);
    erase(source);
    return found;
  });
  const path = pointer(operation, 'path', 'move operation failed to decode path: operation missing path field');
  const place = find(state, path);
  if (place === undefined) missing(`move operation does not apply: doc is missing destination path: ${path}`);
  within(`error in move for path: '${path}'`, () => insert(place, value ?? null));
}

function test(state: State, operation: JsonObject): void {
  const path = pointer(operation, 'path', 'test operation failed to decode path: operation missing path field');
  let value: unknown;
  if (path === '') value = state.root;
  else {
    const place = find(state, path);
    if (place === undefined) missing(`test operation does not apply: is missing path: ${path}`);
    value = within(`error in test for path: '${path}'`, () => read(place));
  }
  if (jsonEqual(value ?? null, operation['value'] ?? null)) return;
  throw new JsonPatchTestFailed(`testing value ${path} failed: test failed`);
}

function copy(state: State, operation: JsonObject): void {
  const from = pointer(operation, 'from', 'copy operation failed to decode from: operation, missing from field');
  const source = find(state, from);
  if (source === undefined) missing(`copy operation does not apply: doc is missing from path: ${from}`);
  const value = within(`error in copy for from: '${from}'`, () => read(source)) ?? null;
  // Two places are to hold one value, so neither may change it in place any more: not even to put it into itself.
  disown(state, value);
  const path = pointer(operation, 'path', 'copy operation failed to decode path');
  const place = find(state, path);
  if (place === undefined) missing(`copy operation does not apply: doc is missing destination path: ${path}`);
  state.copiedBytes += Buffer.byteLength(jsonText(value));
  if (state.copiedBytes > MAX_COPIED_BYTES) {
    throw new JsonPatchError(
      `Unable to complete the copy, the accumulated size increase of copy is ${state.copiedBytes}, exceeding the limit ${MAX_COPIED_BYTES}`,
    );
  }
  within('error while adding value during copy', () => insert(place, value));
}

interface Place {
  readonly container: Container;
  readonly key: string;
}

/** The container a pointer ends in, made our own along the way; undefined when a step on the way is not there. */
function find(state: State, path: string): Place | undefined {
  const steps = path.split('/');
  if (steps.length < 2) return undefined;
  const key = unescapeStep(steps.at(-1) as string);
  if (!isContainer(state.root)) return undefined;
  let container = own(state, state.root);
  state.root = container;
  for (const step of steps.slice(1, -1)) {
    const name = unescapeStep(step);
    let next: unknown;
    try {
      next = read({ container, key: name });
    } catch {
      return undefined;
    }
    if (!isContainer(next)) return undefined;
    const child = own(state, next);
    if (Array.isArray(container)) container[elementIndex(container, name)] = child;
    else setMember(container, name, child);
    container = child;
  }
  return { container, key };
}

function own(state: State, container: Container): Container {
  if (state.owned.has(container)) return container;
  const mine = Array.isArray(container) ? [...container] : { ...container };
  state.owned.add(mine);
  return mine;
}

function disown(state: State, value: unknown): void {
  if (typeof value !== 'object' || value === null || !state.owned.delete(value)) return;
  for (const member of Object.values(value)) disown(state, member);
}

const unescapeStep = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

function read({ container, key }: Place): unknown {
  if (Array.isArray(container)) return container[elementIndex(container, key)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function insert({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === '-') container.push(value);
  else {
    const index = within(`value was not a proper array index: '${key}'`, () => integer(key));
    container.splice(inRange(index, container.length + 1), 0, value);
  }
}

function erase({ container, key }: Place): void {
  if (Array.isArray(container)) {
    container.splice(elementIndex(container, key), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) missing(`Unable to remove nonexistent key: ${key}`);
  delete container[key];
}

const elementIndex = (container: readonly unknown[], key: string): number => inRange(integer(key), container.length);

function inRange(index: number, size: number): number {
  if (index >= size || index < -size) {
    throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
  }
  return index < 0 ? index + size : index;
}

function integer(text: string): number {
  if (/^[+-]?[0-9]+$/.test(text)) return Number(text);
  throw new JsonPatchError(`strconv.Atoi: parsing "${text}": invalid syntax`);
}

function pointer(operation: JsonObject, member: 'path' | 'from', context: string): string {
  const value = operation[member];
  if (typeof value === 'string') return value;
  return missing(context);
}

function missing(text: string): never {
  throw new JsonPatchError(`${text}: missing value`);
}

function within<T>(context: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof JsonPatchError) throw new JsonPatchError(`${context}: ${error.message}`);
    throw error;
  }
}

function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  // Numbers are alike when they are written alike.
  if (left instanceof FloatLiteral && right instanceof FloatLiteral) return left.text === right.text;
  if (!isContainer(left) || !isContainer(right)) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => jsonEqual(item, right[index]));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) => Object.hasOwn(right, key) && jsonEqual((left as JsonObject)[key], (right as JsonObject)[key]),
  );
}
