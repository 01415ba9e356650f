// What an event says of the request itself. Clients repeat the same few requests: their descriptions are
// memoized.
import type { HttpRequest } from '../lib/http/http.js';
import { boundedMemo } from '../lib/values/bounded-memo.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user.js';
import { quoteJson } from '../schema/json/quote.js';
import { type EventRequest, flat, type LinePatterns, listJson, userJson } from './event.js';
import { sourceIps } from './source-ips.js';
import type { SentMetadata } from './sent-object.js';

// hot: once for each request that is recorded.
export function aboutRequest(request: HttpRequest, info: RequestInfo, user: UserInfo | undefined): EventRequest {
  if (request.search !== '') {
    return requestOf({ text: requestTextOf(request, info), request, info, user, patterns: undefined });
  }
  // Without a query, a frequent request info is the same value each time, and mostly from the same few clients.
  const known = knownClients.get(info) ?? [];
  const { headers, remoteAddress } = request;
  for (const { seen, about } of known) {
    if (seen.headers === headers && seen.remoteAddress === remoteAddress && about.user === user) return about;
  }
  return firstSeen(request, info, user, known);
}

/** One client on one connection. */
interface KnownClient {
  readonly about: EventRequest;
  /** The same values mean the same agent, and the same said of the way by proxies. */
  readonly seen: Pick<HttpRequest, 'headers' | 'remoteAddress'>;
}

const MAX_KNOWN_CLIENTS = 16;
const knownClients = new WeakMap<RequestInfo, KnownClient[]>();

function firstSeen(
  request: HttpRequest,
  info: RequestInfo,
  user: UserInfo | undefined,
  known: KnownClient[],
): EventRequest {
  const { headers, remoteAddress } = request;
  // Of the same client on another connection the same is said.
  const same = known.find(({ about }) => about.user === user && isFrom(request, about));
  const about =
    same?.about ??
    requestOf({ text: flatRequestText(requestTextOf(request, info)), request, info, user, patterns: newPatterns() });
  if (known.length === MAX_KNOWN_CLIENTS) known.pop();
  known.unshift({ about, seen: { headers, remoteAddress } });
  knownClients.set(info, known);
  return about;
}

const newPatterns = (): LinePatterns => ({ received: undefined, reached: undefined, both: undefined });

const isFrom = (request: HttpRequest, about: EventRequest): boolean =>
  about.sourceIps === sourceIps(request) && about.userAgent === agentOf(request).text;

interface RequestParts {
  readonly text: RequestText;
  readonly request: HttpRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo | undefined;
  /** Undefined for a request that does not come again. */
  readonly patterns: EventRequest['patterns'];
}

function requestOf({ text: { uri, text, objectRef }, request, info, user, patterns }: RequestParts): EventRequest {
  const { verb, namespace } = info;
  const ips = sourceIps(request);
  const agent = agentOf(request);
  return {
    uri,
    verb,
    user,
    sourceIps: ips,
    userAgent: agent.text,
    namespace,
    objectRef,
    subjectJson: user === undefined ? `${text}{}` : text + userJson(user),
    clientJson: ipsJson(ips) + agent.json,
    patterns,
  };
}

interface RequestText {
  readonly uri: string;
  /** `"requestURI":…,"verb":…,"user":` */
  readonly text: string;
  readonly objectRef: string;
}

const NOTHING: SentMetadata = {};

function requestTextOf({ path, search }: HttpRequest, info: RequestInfo): RequestText {
  const uri = search === '' ? path : `${path}?${search}`;
  return {
    uri,
    text: `"requestURI":${quoteJson(uri)},"verb":${quoteJson(info.verb)},"user":`,
    objectRef: info.isResourceRequest ? referenceJson(info, NOTHING) : '',
  };
}

const flatRequestText = ({ uri, text, objectRef }: RequestText): RequestText => ({
  uri: flat(uri),
  text: flat(text),
  objectRef: flat(objectRef),
});

/** The members of `objectRef`. What the path leaves open comes from the object in the body. */
export function referenceJson(info: RequestInfo, { name, namespace, uid, resourceVersion }: SentMetadata): string {
  let text = '';
  const add = (member: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') text += `${text === '' ? '' : ','}"${member}":${quoteJson(value)}`;
  };
  add('resource', info.resource);
  add('namespace', info.namespace || namespace);
  add('name', info.name || name);
  add('uid', uid);
  add('apiGroup', info.apiGroup);
  add('apiVersion', info.apiVersion);
  add('resourceVersion', resourceVersion);
  add('subresource', info.subresource);
  return text;
}

const MAX_MEMOIZED = 1024;
/** In characters: longer agents are made up. */
const MAX_MEMOIZED_LENGTH = 256;
const MAX_AGENT_BYTES = 1024;

const memoizedAgent = boundedMemo(MAX_MEMOIZED, readAgent);
function agentOf({ headers }: HttpRequest): ReturnType<typeof readAgent> {
  const header = headers['user-agent'] ?? '';
  return header.length > MAX_MEMOIZED_LENGTH ? readAgent(header) : memoizedAgent(header);
}

function readAgent(header: string): { readonly text: string; readonly json: string } {
  const bytes = Buffer.from(header, 'latin1');
  const text =
    bytes.length <= MAX_AGENT_BYTES
      ? bytes.toString('utf8')
      : `${bytes.subarray(0, MAX_AGENT_BYTES).toString('utf8')}...TRUNCATED`;
  return { text, json: text === '' ? '' : flat(`,"userAgent":${quoteJson(text)}`) };
}

const lists = new WeakMap<readonly string[], string>();

/** A peer's list is the same each time. */
function ipsJson(ips: readonly string[]): string {
  let json = lists.get(ips);
  if (json === undefined) {
    json = ips.length === 0 ? '' : flat(`,"sourceIPs":${listJson(ips)}`);
    lists.set(ips, json);
  }
  return json;
}
