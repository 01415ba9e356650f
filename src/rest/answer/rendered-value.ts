import type { AnsweredForm } from '../../lib/http/http.js';
import { encodeJson } from '../../schema/json/encode.js';
import type { StructType } from '../../schema/type.js';
import { formOf } from './formed-value.js';
import { indentJson } from '../wire/indent-json.js';
import type { Negotiated } from '../wire/negotiate.js';
import { encodeObject } from '../wire/codec.js';

const NEWLINE = Buffer.from('\n');

/** As AnsweredObject, at hand. */
interface RenderedObject {
  readonly form: AnsweredForm;
  readonly json?: () => string | Buffer;
}

/** The bytes of a value, and what is recorded of it. `json`: what it is in JSON, where that is known already. */
export function renderedValue(
  { media, pretty }: Negotiated,
  type: StructType,
  value: object,
  json?: string,
): { readonly bytes: Buffer; readonly object: RenderedObject } {
  const form = formOf(type);
  const bytes = media.encoding === 'json' && json !== undefined ? Buffer.from(json) : encodeObject(media, type, value);
  if (media.encoding !== 'json') return { bytes, object: { form, json: () => json ?? encodeJson(type, value) } };
  if (pretty) return { bytes: Buffer.from(indentJson(bytes.toString())), object: { form, json: () => bytes } };
  return { bytes: Buffer.concat([bytes, NEWLINE]), object: { form } };
}
