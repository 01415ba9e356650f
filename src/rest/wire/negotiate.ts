// Which form of answer a client requested.
import { isTrueText } from '../../lib/go/strconv.js';
import { ownMember } from '../../lib/values/plain-object.js';
import { firstHeader, type HttpRequest } from '../../lib/http/http.js';
import { LRUCache } from 'lru-cache';
import { notAcceptable, RouteRefusal, StatusError, unsupportedMediaType } from '../../machinery/status.js';
import type { KindDefinition } from '../../registry/kind.js';
import { JSON_TYPE, type MediaType, streamNames } from './media-types.js';

export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly version: 'v1' | 'v1beta1';
}

export interface Negotiated {
  readonly media: MediaType;
  readonly pretty: boolean;
  readonly transform?: Transform;
}

export interface NegotiatedPath {
  /** It can be watched, too. */
  readonly streams?: boolean;
  /** False for what has no table. */
  readonly tables?: boolean;
  /** False for what has no other form than its own. */
  readonly transforms?: boolean;
  /** False for what kube-apiserver's router does not see. */
  readonly routed?: boolean;
  /** Forms that are none of an object, and stand before those. */
  readonly texts?: readonly string[];
}

const ORDINARY: NegotiatedPath = {};
export const WITHOUT_TABLES: NegotiatedPath = { tables: false };
export const OF_LISTS: NegotiatedPath = { streams: true };
const PLAIN: Negotiated = { media: JSON_TYPE, pretty: false };
const PLAIN_PRETTY: Negotiated = { media: JSON_TYPE, pretty: true };

// Clients repeat a handful of Accept headers for ever, all of them short.
const MAX_MEMOIZED = 256;
const MAX_MEMOIZED_LENGTH = 1024;
/** By path, and then by the forms that are supported: there are few of each, and they stay. */
const memo = new WeakMap<NegotiatedPath, WeakMap<readonly MediaType[], LRUCache<string, Negotiated>>>();

// hot: runs on every request.
/** Chooses the form of the answer, or refuses with 406. */
export function negotiate(
  request: HttpRequest,
  supported: readonly MediaType[],
  path: NegotiatedPath = ORDINARY,
): Negotiated {
  const accept = firstHeader(request, 'accept');
  const pretty = wantsPretty(request);
  if (accept === undefined || accept === '' || accept === 'application/json') return pretty ? PLAIN_PRETTY : PLAIN;
  if (accept.length > MAX_MEMOIZED_LENGTH) return withPretty(choose(accept, supported, path), pretty);
  let onPath = memo.get(path);
  if (onPath === undefined) memo.set(path, (onPath = new WeakMap()));
  let choices = onPath.get(supported);
  if (choices === undefined) onPath.set(supported, (choices = new LRUCache({ max: MAX_MEMOIZED })));
  let chosen = choices.get(accept);
  if (chosen === undefined) {
    chosen = choose(accept, supported, path);
    choices.set(accept, chosen);
  }
  return withPretty(chosen, pretty);
}

/** Of objects of a kind that are read and written through one of its endpoints. */
export function objectPath({ strategy, subresources }: KindDefinition, endpoint: string): NegotiatedPath {
  if (endpoint === '') return ORDINARY;
  const rules = endpoint === 'status' ? strategy.status : ownMember(subresources, endpoint)?.update;
  return rules?.tables === false ? WITHOUT_TABLES : ORDINARY;
}

const withPretty = (chosen: Negotiated, pretty: boolean): Negotiated =>
  pretty && !chosen.pretty ? { ...chosen, pretty } : chosen;

/** Whether a client that requests tables or metadata accepts other things, too. */
export const acceptsUntransformed = ({ headers }: HttpRequest): boolean =>
  parseAccept(headers.accept ?? '').some(({ parameters }) => !parameters.has('as'));

/** The form of a request's body, by its Content-Type. */
export function bodyMediaType(request: HttpRequest, supported: readonly MediaType[]): MediaType {
  const sent = request.headers['content-type'];
  if (sent === undefined || sent === '' || sent === 'application/json') return JSON_TYPE;
  const name = sent.split(';', 1)[0]?.trim().toLowerCase();
  const media = MEDIA_PARAMETERS.test(sent) ? supported.find((type) => type.name === name) : undefined;
  if (media === undefined) throw unsupportedMediaType(supported.map((type) => type.name));
  return media;
}

/** Parameters are not looked at, but must be well formed. */
const MEDIA_PARAMETERS =
  /^[^;]*(?:;\s*[\w!#$%&'*+.^`|~-]+\s*=\s*(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\\r\n]|\\.)*")\s*)*(?:;\s*)?$/;

const PEOPLE = ['curl', 'Wget', 'Mozilla/5.0'];

/** Programs that a person looks at get indented JSON, unless the query says otherwise. */
function wantsPretty(request: HttpRequest): boolean {
  if (request.search !== '') {
    const pretty = request.query.get('pretty');
    if (pretty !== null && pretty !== '') return isTrueText(pretty);
  }
  const agent = request.headers['user-agent'];
  return agent !== undefined && PEOPLE.some((prefix) => agent.startsWith(prefix));
}

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

function choose(accept: string, supported: readonly MediaType[], path: NegotiatedPath): Negotiated {
  const { tables = true, transforms = true, routed = true } = path;
  const names = supported.map((type) => type.name);
  if (routed) checkRoute(accept, supported, path);
  for (const clause of parseAccept(accept)) {
    for (const media of supported) {
      if (!matches(clause, media.name)) continue;
      const chosen = withParameters(clause, media);
      if (chosen === undefined || (chosen.transform !== undefined && !transforms)) continue;
      if (tables || chosen.transform?.kind !== 'Table') return chosen;
    }
  }
  throw notAcceptable(names);
}

/**
 * kube-apiserver's router looks first, and knows no wildcard but the widest. It refuses in words of its own. Custom
 * resources do not come by it.
 */
function checkRoute(
  accept: string,
  supported: readonly MediaType[],
  { streams = false, texts = [] }: NegotiatedPath,
): void {
  if (supported.some(({ transformsOnly }) => transformsOnly)) return;
  requireRoute(accept, [...texts, ...supported.map(({ name }) => name), ...(streams ? streamNames(supported) : [])]);
}

/** Refuses as that router does, for what is looked at before the form of the answer is chosen. */
export const requireAcceptable = (
  request: HttpRequest,
  supported: readonly MediaType[],
  path: NegotiatedPath = ORDINARY,
): void => checkRoute(firstHeader(request, 'accept') || '*/*', supported, path);

/** Refuses what accepts none of the forms a path has. */
export function requireRoute(accept: string, produced: readonly string[]): void {
  for (const clause of accept.split(',')) {
    const end = clause.indexOf(';');
    const range = (end < 0 ? clause : clause.slice(0, end)).trim();
    if (range === '*/*' || produced.includes(range)) return;
  }
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`;
  throw new RouteRefusal(406, 'NotAcceptable', message, {});
}

function matches(clause: Clause, name: string): boolean {
  const [type, subtype] = name.split('/');
  if (clause.type === '*' && clause.subtype === '*') return true;
  return clause.type === type && (clause.subtype === subtype || clause.subtype === '*');
}

/** Undefined when the clause requests something that this server does not do: then the next clause is tried. */
function withParameters(clause: Clause, media: MediaType): Negotiated | undefined {
  const { parameters } = clause;
  const stream = parameters.get('stream');
  if (stream !== undefined && stream !== '' && stream !== 'watch') return undefined;
  const serverVersion = parameters.get('sv');
  if (serverVersion !== undefined && serverVersion !== '' && serverVersion !== 'v1') return undefined;
  const pretty = parameters.get('pretty') === '1';
  const kind = parameters.get('as');
  if (kind === undefined && !parameters.has('g') && !parameters.has('v')) {
    return media.transformsOnly ? undefined : { media, pretty };
  }
  const version = parameters.get('v');
  if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (kind === 'Table') {
    return media.encoding === 'json' || media.encoding === 'yaml'
      ? { media, pretty, transform: { kind, version } }
      : undefined;
  }
  if (kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList') {
    return { media, pretty, transform: { kind, version } };
  }
  return undefined;
}

/** The clauses of an Accept header, best first. */
export function parseAccept(header: string): readonly Clause[] {
  const clauses: Clause[] = [];
  const texts = header.split(',');
  // What is said again changes nothing, however often.
  for (const text of texts.length <= FEW ? texts : new Set(texts)) {
    const clause = parseClause(text);
    if (clause !== undefined) clauses.push(clause);
  }
  return clauses.length <= FEW ? fewBestFirst(clauses) : clauses.sort(compareClauses);
}

function parseClause(text: string): Clause | undefined {
  const end = text.indexOf(';');
  const range = (end < 0 ? text : text.slice(0, end)).trim();
  const [type = '', subtype = type === '*' ? '*' : '', ...more] = range.split('/', 3);
  if (type === '' || subtype === '' || more.length > 0) return undefined;
  const parameters = end < 0 ? NO_PARAMETERS : parseParameters(text.slice(end + 1));
  const quality = Number(parameters.get('q') ?? '1');
  return { type, subtype, quality: Number.isFinite(quality) ? quality : 0, parameters };
}

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

function parseParameters(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const each of text.split(';')) {
    const part = each.trim();
    const equals = part.indexOf('=');
    if (equals < 0 || equals === part.length - 1 || part.includes('=', equals + 1)) continue;
    parameters.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  return parameters;
}

/** So many kube-apiserver compares each with each, which shows: its order has circles. Of more, a header may have 200,000. */
const FEW = 12;

/** Not an order by the book: what is precise goes before a wildcard whatever their qualities, as in kube-apiserver. */
function fewBestFirst(clauses: Clause[]): readonly Clause[] {
  for (let i = 1; i < clauses.length; i++) {
    for (let j = i; j > 0 && isBetter(clauses[j], clauses[j - 1]); j--) {
      [clauses[j], clauses[j - 1]] = [clauses[j - 1] as Clause, clauses[j] as Clause];
    }
  }
  return clauses;
}

const compareClauses = (a: Clause, b: Clause): number => (isBetter(a, b) ? -1 : isBetter(b, a) ? 1 : 0);

const isBetter = (a: Clause | undefined, b: Clause | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  (a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*'));

export const notAcceptableTransform = (message: string): StatusError => new StatusError(406, 'NotAcceptable', message);
