// An extension server's own OpenAPI documents: its Swagger 2.0, and the index of its documents in OpenAPI 3.0.
import crypto from 'node:crypto';
import { isPlainObject } from '../lib/values/plain-object.js';
import type { UserInfo } from '../machinery/user.js';
import { collectBody } from '../outbound/http-client.js';
import type { Headers } from '../outbound/proxy/headers.js';
import { requestDecompressed } from '../outbound/proxy/forward.js';
import { readForeign } from '../schema/json/read-foreign.js';
import { readSwagger, type Swagger } from '../schema/openapi/swagger.js';
import { identityHeaders } from './identity-headers.js';
import type { RemoteServer } from './remote-servers.js';

const FETCHER: UserInfo = { name: 'system:aggregator', groups: [] };
const TIMEOUT_MS = 60_000;
const MAX_SWAGGER_BYTES = 16 * 1024 * 1024;
const MAX_INDEX_BYTES = 1024 * 1024;
/** Of one server; more are not listed. */
const MAX_INDEX_ENTRIES = 2000;

export interface FetchedSwagger {
  /** What the server calls this state of the document, or what it comes to. */
  readonly tag: { readonly theirs?: string; readonly hash: string };
  readonly swagger: Swagger;
}

/** What is known already comes back as it is while the server has nothing else. Rejects when it does not say. */
export async function fetchSwagger(server: RemoteServer, known: FetchedSwagger | undefined): Promise<FetchedSwagger> {
  const theirs = known?.tag.theirs;
  const headers = { accept: 'application/json', ...(theirs !== undefined && { 'if-none-match': theirs }) };
  const { status, bytes, etag } = await get(server, '/openapi/v2', headers, MAX_SWAGGER_BYTES);
  if (status === 304 && known !== undefined && theirs !== undefined) return known;
  if (status !== 200) throw new Error(`/openapi/v2 was answered with ${status}`);
  const hash = crypto.createHash('sha256').update(bytes).digest('hex');
  const tag = { hash, ...(etag !== undefined && { theirs: etag }) };
  return { tag, swagger: known?.tag.hash === hash ? known.swagger : await readSwagger(bytes) };
}

/** Where the server's documents are, by name; undefined from a server that has no such documents. */
export async function fetchIndex(server: RemoteServer): Promise<ReadonlyMap<string, string> | undefined> {
  const { status, bytes } = await get(server, '/openapi/v3', {}, MAX_INDEX_BYTES);
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`/openapi/v3 was answered with ${status}`);
  const index = await readForeign(bytes, undefined);
  if (!isPlainObject(index)) throw new Error('/openapi/v3 is no object');
  const entries = isPlainObject(index.paths) ? Object.entries(index.paths) : [];
  return new Map(
    entries.slice(0, MAX_INDEX_ENTRIES).flatMap(([name, entry]): [string, string][] => {
      const url = isPlainObject(entry) ? entry.serverRelativeURL : undefined;
      return [[name, typeof url === 'string' ? url : '']];
    }),
  );
}

interface Got {
  readonly status: number;
  readonly bytes: Buffer;
  readonly etag: string | undefined;
}

async function get(
  { client, origin }: RemoteServer,
  path: string,
  extraHeaders: Headers,
  limitBytes: number,
): Promise<Got> {
  const headers = { ...extraHeaders, ...identityHeaders(FETCHER) };
  const url = new URL(path, origin);
  const response = await requestDecompressed(client, { method: 'GET', url, headers, timeoutMs: TIMEOUT_MS });
  const bytes = await collectBody(response, limitBytes);
  return { status: response.status, bytes, etag: response.headers.etag };
}
