// How a strategic merge patch is refused.
import { goStringText, goTypeName, goValueText } from '../../lib/go/value.js';
import { jsonPatchRefused } from '../../machinery/json-patch.js';
import { badRequest, StatusError } from '../../machinery/status.js';

/** Refusals kube-apiserver does not foresee: it answers 500 with their text and no reason. */
export const unexplained = (message: string): StatusError => new StatusError(500, '', message);

export const badPrimitiveList = (): StatusError => badRequest('invalid patch format of primitive list');
export const badRetainKeys = (): StatusError => badRequest('invalid patch format of retainKeys');
export const badElementOrder = (): StatusError => badRequest('invalid patch format of setElementOrder list');
export const listOfLists = (): StatusError => jsonPatchRefused();

export const noMergeKey = (item: unknown, key: string): StatusError =>
  unexplained(`map: ${goValueText(item)} does not contain declared merge key: ${key}`);

export const unknownDirective = (directive: unknown, map: unknown): StatusError =>
  unexplained(`unknown patch type: ${goStringText(directive)} in map: ${goValueText(map)}`);

export const wrongType = (expected: '[]interface {}' | 'map[string]interface {}', actual: unknown): StatusError =>
  unexplained(`expected a ${expected}, but received a ${goTypeName(actual)}`);
