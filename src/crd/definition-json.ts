// Definitions on their way to another thread.
import { runCooperatively } from '../lib/scheduling/yield.js';
import { typeOf } from '../schema/catalogue.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import { decodeStoredJson } from '../schema/json/decode-stored.js';
import { encodePieces } from '../schema/json/encode-pieces.js';
import type { StructType } from '../schema/type.js';

export const definitionJson = (crd: Readonly<CustomResourceDefinition>): Promise<Buffer> =>
  runCooperatively(encodePieces(definitionType(), crd));

export const definitionFrom = (json: Buffer): CustomResourceDefinition =>
  decodeStoredJson(definitionType(), json) as unknown as CustomResourceDefinition;

export function definitionType(): StructType {
  const type = typeOf('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition');
  if (type === undefined) throw new Error('the catalogue has no CustomResourceDefinition');
  return type;
}
