// /debug/encryption: what each key encrypted, whether one may go, and rewriting what is not under the first one.
import type { Rotation } from '../../encryption/rotation.js';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { badRequest, wrongMethod } from '../../machinery/status.js';
import { rawJson } from './endpoints.js';
import { at, type PathHandler } from './paths.js';

export const ENCRYPTION_PATH = '/debug/encryption';
const DEFAULT_OBJECTS_PER_SECOND = 100;
const MAX_OBJECTS_PER_SECOND = 10_000;

export function encryptionPaths(rotation: Rotation): PathHandler[] {
  return [
    at(ENCRYPTION_PATH, async (request) => {
      only(request, 'GET');
      const { hash } = rotation.encryption.providers.settings;
      return rawJson(200, { configuration: hash, resources: await rotation.use(), rewrite: rotation.progress });
    }),
    at(`${ENCRYPTION_PATH}/removal`, async (request) => {
      only(request, 'GET');
      const provider = request.query.get('provider') ?? '';
      if (provider === '') throw badRequest('say which: ?provider=aesgcm:v1:key1, for a KMS plugin also &key=sha256:…');
      return rawJson(200, await rotation.mayRemove(provider, request.query.get('key') ?? undefined));
    }),
    at(`${ENCRYPTION_PATH}/rewrite`, (request): HttpResponse => {
      if (request.method === 'GET') return rawJson(200, rotation.progress);
      only(request, 'POST');
      return rawJson(202, rotation.begin(rateOf(request)));
    }),
  ];
}

function only({ method }: HttpRequest, allowed: string): void {
  if (method !== allowed) throw wrongMethod();
}

function rateOf({ query }: HttpRequest): number {
  const text = query.get('objectsPerSecond') ?? String(DEFAULT_OBJECTS_PER_SECOND);
  const rate = Number(text);
  if (!(rate > 0 && rate <= MAX_OBJECTS_PER_SECOND)) {
    throw badRequest(`objectsPerSecond must be above 0 and at most ${MAX_OBJECTS_PER_SECOND}`);
  }
  return rate;
}
