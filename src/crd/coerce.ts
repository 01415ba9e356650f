// Brings the tree of a custom resource into the form of its schema.
import { append } from '../lib/values/append.js';
import { cannotUnmarshal } from '../lib/go/json-kind.js';
import { isPlainObject, setMember } from '../lib/values/plain-object.js';
import { additionalOf, itemsOf, type Schema } from '../apis/apiextensions/schema-walk.js';
import { metaType } from '../schema/catalogue.js';
import { DecodeError, decodeTree } from '../schema/json/decode.js';
import { encodeTree } from '../schema/json/encode.js';
import { NULL_VERSION } from '../schema/json/sent-kind.js';
import type { Unstructured } from '../schema/type.js';
import { prune, propertyOf } from './prune.js';
import { dropForbiddenNulls } from './set-defaults.js';

export interface CoerceRules {
  /** Absent when the version has none: then nothing but metadata is known. */
  readonly schema: Schema | undefined;
  /** The CRD keeps every unknown member, everywhere (CRDs of v1beta1). */
  readonly preserveUnknown: boolean;
  readonly readAs?: Unstructured['readAs'];
}

export function coercion({ schema, preserveUnknown, readAs }: CoerceRules): Unstructured {
  return {
    ...(readAs && { readAs }),
    readMetadata(tree) {
      checkTexts(tree);
      coerceMetadata(tree, 'metadata', false);
    },
    dropUnreadable: dropUnreadableMetadata,
    coerce(tree, strict, keepNulls = false) {
      checkTexts(tree);
      const unknown = coerceMetadata(tree, 'metadata', strict);
      if (!preserveUnknown) {
        append(unknown, prune(tree, schema, true));
        if (!keepNulls) dropForbiddenNulls(tree, schema);
      }
      append(unknown, coerceEmbedded(tree, schema, '', strict).sort());
      return unknown;
    },
  };
}

/** What says it is another kind: nothing is known of it but what every resource has. */
export const OF_ANOTHER_KIND: Pick<Unstructured, 'coerce'> = {
  coerce(tree, strict) {
    checkTexts(tree);
    return coerceMetadata(tree, 'metadata', strict);
  },
};

function checkTexts(tree: Record<string, unknown>): void {
  for (const member of ['kind', 'apiVersion']) {
    const value = tree[member];
    if (value === undefined || typeof value === 'string') continue;
    // A kind that is nothing is one that is missing.
    if (value === null && member === 'kind') delete tree[member];
    else if (value !== null) throw new DecodeError(cannotUnmarshal(value, `Go struct field .${member} of type string`));
    // A missing kind is reported first.
    else if (tree['kind']) throw new DecodeError(NULL_VERSION);
  }
}

/** A list's own members are the server's: there is nothing to drop. */
export const AS_IT_IS: Unstructured = {
  coerce: () => [],
  readMetadata: () => undefined,
  dropUnreadable: () => undefined,
};

/** Reads the metadata of a resource by its type. Answers what is unknown in it. */
function coerceMetadata(resource: Record<string, unknown>, path: string, strict: boolean): string[] {
  const { metadata } = resource;
  if (metadata === undefined) return [];
  const { object, strictErrors } = decodeTree(metaType('ObjectMeta'), metadata, { strict });
  resource['metadata'] = object;
  return strictErrors.flatMap((text) => {
    const [, field] = /^unknown field "(.*)"$/.exec(text) ?? [];
    return field === undefined ? [] : [`${path}.${field}`];
  });
}

function coerceEmbedded(value: unknown, schema: Schema | undefined, path: string, strict: boolean): string[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return value.flatMap((item, i) => coerceEmbedded(item, items, `${path}[${i}]`, strict));
  }
  if (!isPlainObject(value)) return [];
  const unknown: string[] = [];
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (schema['x-kubernetes-embedded-resource']) {
    for (const member of ['apiVersion', 'kind']) {
      if (Object.hasOwn(value, member) && typeof value[member] !== 'string') {
        throw new DecodeError(`${at(member)}: Invalid value: ${encodeTree(value[member])}: must be a string`);
      }
    }
    try {
      append(unknown, coerceMetadata(value, at('metadata'), strict));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      const shown = encodeTree(value['metadata']);
      throw new DecodeError(`${at('metadata')}: Invalid value: ${shown}: ${error.message}`);
    }
  }
  const additional = additionalOf(schema);
  for (const key of Object.keys(value)) {
    const property = propertyOf(schema, key);
    const place = property === undefined ? `${path}[${key}]` : at(key);
    append(unknown, coerceEmbedded(value[key], property ?? additional, place, strict));
  }
  return unknown;
}

/** What is stored may have metadata from before there were rules for it, and so may what is applied: what cannot be read is dropped. */
export function dropUnreadableMetadata(tree: Record<string, unknown>): void {
  const { metadata } = tree;
  if (!isPlainObject(metadata)) return;
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(metadata)) {
    try {
      decodeTree(metaType('ObjectMeta'), structuredClone({ [key]: value }), { strict: false });
      setMember(kept, key, value);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  tree['metadata'] = kept;
}
