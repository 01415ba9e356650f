// A configuration file's text as an object of one of the kinds and versions it may have, decoded strictly: what does not
// belong there, or stands there twice, is refused.
import { goQuote } from '../lib/go/quote.js';
import { apiVersionFault, parseApiVersion } from '../machinery/object.js';
import { typeOf } from '../schema/catalogue.js';
import { type Decoded, DecodeError, decodeJson, decodeTree, parseJsonTree } from '../schema/json/decode.js';
import { sentKind, unreadable } from '../schema/json/sent-kind.js';
import type { StructType } from '../schema/type.js';
import { parseYaml } from '../schema/yaml/parse.js';
import { ConfigError } from './config-error.js';

export interface ConfigKind {
  readonly kind: string;
  /** The versions it may be written in. */
  readonly apiVersions: readonly string[];
  /** What it is an older name of. */
  readonly now?: { readonly kind: string; readonly apiVersion: string };
}

export interface DecodeConfigOptions {
  readonly kinds: readonly ConfigKind[];
  /** The place where kube-apiserver registers these kinds: its refusals name it. */
  readonly scheme: string;
  /** The version and kind of a file that does not say. */
  readonly assumed?: { readonly kind: string; readonly apiVersion: string };
  /** Unknown and repeated fields are passed over. */
  readonly lenient?: boolean;
}

export interface DecodedConfig {
  /** By its name of today; callers that name several kinds check it. */
  readonly kind: string;
  /** As it was written. */
  readonly apiVersion: string;
  readonly object: Record<string, unknown>;
  /** What a strict reader would have refused; empty unless lenient. */
  readonly strictErrors: readonly string[];
}

/** A text that does not say what it is, or is of a kind nobody knows here. */
export class UnknownKind extends ConfigError {}

/** Throws a ConfigError. The object is of the version it was written in, without defaults. */
export function decodeConfig(text: string, options: DecodeConfigOptions): DecodedConfig {
  const { tree, repeated } = inWords(() => parseConfigText(text));
  const { kind, apiVersion } = whatItIs(tree, text, options);
  const known = options.kinds.find((each) => each.kind === kind && each.apiVersions.includes(apiVersion));
  if (known === undefined) {
    const [what, version, scheme] = [kind, apiVersion, options.scheme].map(goQuote);
    throw new UnknownKind(`no kind ${what} is registered for version ${version} in scheme ${scheme}`);
  }
  const now = known.now ?? { kind, apiVersion };
  const { group, version } = parseApiVersion(now.apiVersion);
  const type = typeOf(group, version, now.kind);
  if (type === undefined) throw new Error(`the catalogue has no ${apiVersion} ${kind}`);
  const { object, strictErrors } = inWords(() => decodeParsed(type, text, { tree, repeated }));
  if (strictErrors.length > 0 && options.lenient !== true) {
    throw new ConfigError(`strict decoding error: ${strictErrors.join(', ')}`);
  }
  return { kind: now.kind, apiVersion, object, strictErrors };
}

interface Parsed {
  readonly tree: unknown;
  readonly repeated: readonly string[];
}

/** What begins with a brace is parsed as JSON, and so YAML that does is refused; a byte order mark makes it YAML. */
export const isJsonText = (text: string): boolean => !text.startsWith('\ufeff') && text.trimStart().startsWith('{');

/** Throws a DecodeError. */
export function parseConfigText(text: string): Parsed {
  if (isJsonText(text)) return { tree: jsonTree(text), repeated: [] };
  const { value, strictError } = parseYaml(text);
  return { tree: value, repeated: strictError === undefined ? [] : [strictError] };
}

function jsonTree(text: string): unknown {
  try {
    return parseJsonTree(text).value;
  } catch (error) {
    throw error instanceof DecodeError ? unreadable(error.message) : error;
  }
}

/** The text that was parsed by its type, strictly. A tree has forgotten how JSON wrote its numbers. Throws a DecodeError. */
export function decodeParsed(type: StructType, text: string, { tree, repeated }: Parsed): Decoded {
  if (isJsonText(text)) return decodeJson(type, text, { strict: true });
  const { object, strictErrors } = decodeTree(type, tree, { strict: true });
  return { object, strictErrors: [...repeated, ...strictErrors] };
}

function whatItIs(
  tree: unknown,
  text: string,
  { assumed }: DecodeConfigOptions,
): { readonly kind: string; readonly apiVersion: string } {
  const said = inWords(() => sentKind(tree));
  const unfit = apiVersionFault(said.apiVersion);
  if (unfit !== undefined) throw new UnknownKind(unfit);
  const kind = said.kind || (assumed?.kind ?? '');
  const apiVersion = said.apiVersion || (assumed?.apiVersion ?? '');
  if (kind === '') throw new UnknownKind(`Object 'Kind' is missing in '${text}'`);
  if (apiVersion === '') throw new UnknownKind(`Object 'apiVersion' is missing in '${text}'`);
  return { kind, apiVersion };
}

function inWords<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeError) throw new ConfigError(error.message);
    throw error;
  }
}
