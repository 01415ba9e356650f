// CRDs on their way to a worker.
import { runCooperatively } from '../lib/scheduling/yield.js';
import { typeOf } from '../schema/catalogue.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import { decodeStoredJson } from '../schema/json/decode-stored.js';
import { encodePieces } from '../schema/json/encode-pieces.js';
import type { StructType } from '../schema/type.js';

export const crdJson = (crd: Readonly<CustomResourceDefinition>): Promise<Buffer> =>
  runCooperatively(encodePieces(crdType(), crd));

export const crdFrom = (json: Buffer): CustomResourceDefinition =>
  decodeStoredJson(crdType(), json) as unknown as CustomResourceDefinition;

export function crdType(): StructType {
  const type = typeOf('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition');
  if (type === undefined) throw new Error('the catalogue has no CustomResourceDefinition');
  return type;
}
