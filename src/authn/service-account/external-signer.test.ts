import { logTo } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { type ExternalSigner, startExternalSigner } from './external-signer.js';
import type { TokenToIssue } from './issuer.js';
import { SignerError, type SignerMethod } from './signer-client.js';
import { KEYS_RESPONSE, METADATA_RESPONSE, SIGN_RESPONSE } from './signer-messages.js';

const { publicKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
const DER = publicKey.export({ format: 'der', type: 'spki' });
const REQUEST: TokenToIssue = {
  bound: { namespace: 'default', serviceaccount: { name: 'a', uid: 'u' } },
  audiences: ['api'],
  expirationSeconds: 3600,
  now: new Date(1_000_000),
};

interface Key {
  readonly id: string;
  readonly unpublished?: boolean;
}

/** A signer with scripted answers. */
class PlayedSigner {
  keys: readonly Key[] = [{ id: 'one' }];
  refreshSeconds = 60;
  header: object = { alg: 'ES256', kid: 'one', typ: 'JWT' };
  rawHeader: string | undefined;
  signature = 'c2ln';
  maxSeconds = 3600;
  fails: Error | undefined;
  readonly calls: SignerMethod[] = [];
  closed = false;

  readonly client = {
    call: (method: SignerMethod): Promise<Buffer> => {
      this.calls.push(method);
      return this.fails === undefined ? Promise.resolve(this.#answer(method)) : Promise.reject(this.fails);
    },
    close: (): void => void (this.closed = true),
  };

  #answer(method: SignerMethod): Buffer {
    switch (method) {
      case 'Metadata':
        return METADATA_RESPONSE.encode({ maxTokenExpirationSeconds: this.maxSeconds });
      case 'Sign': {
        const header = this.rawHeader ?? Buffer.from(JSON.stringify(this.header)).toString('base64url');
        return SIGN_RESPONSE.encode({ header, signature: this.signature });
      }
      case 'FetchKeys': {
        const keys = this.keys.map((key) => ({ der: DER, ...key }));
        const refreshHintSeconds = this.refreshSeconds;
        return KEYS_RESPONSE.encode({ keys, dataTimestamp: { seconds: 5 }, refreshHintSeconds });
      }
    }
  }
}

async function start(signer: PlayedSigner): Promise<{
  external: ExternalSigner;
  clock: ManualClock;
  observed: string[];
  logged: string[];
  stop: () => void;
}> {
  const clock = new ManualClock();
  const observed: string[] = [];
  const logged: string[] = [];
  const stopping = new AbortController();
  const external = await startExternalSigner({
    issuer: 'https://issuer.test',
    client: signer.client,
    newId: () => 'id',
    clock,
    metrics: {
      fetched: (code) => void observed.push(`fetched ${code}`),
      dataTimestamp: (seconds) => void observed.push(`data of ${seconds}`),
      signed: (code) => void observed.push(`signed ${code}`),
      called: () => undefined,
    },
    signal: stopping.signal,
    log: logTo((message) => void logged.push(message)),
  });
  return { external, clock, observed, logged, stop: () => stopping.abort() };
}

const idsOf = (keys: readonly { readonly id: string }[]): string[] => keys.map(({ id }) => id);

test('keys are had anew when the signer says, and kept while it is away', async () => {
  const signer = new PlayedSigner();
  const { external, clock, observed, logged, stop } = await start(signer);
  assert.deepEqual(observed, ['fetched OK', 'data of 5']);
  assert.equal(external.maxAgeSeconds(), 60);
  signer.keys = [{ id: 'two' }, { id: 'old', unpublished: true }];
  await clock.move(59_000);
  assert.deepEqual(idsOf(external.published()), ['one']);
  await clock.move(1_000);
  assert.deepEqual(idsOf(external.published()), ['two']);
  assert.deepEqual(idsOf(await external.keys('')), ['two', 'old']);
  signer.fails = new SignerError('Unavailable', 'gone');
  await clock.move(60_000);
  assert.deepEqual(idsOf(external.published()), ['two']);
  assert.equal(observed.at(-1), 'fetched Unavailable');
  assert.match(logged.join(), /^Kept the keys in use: while fetching token verification keys: .*desc = gone$/);
  signer.fails = undefined;
  signer.keys = [{ id: 'three' }];
  await clock.move(10_000);
  assert.deepEqual(idsOf(external.published()), ['three']);
  stop();
  assert.equal(signer.closed, true);
  const { length } = signer.calls;
  await clock.move(200_000);
  assert.equal(signer.calls.length, length);
});

test('an unknown key is fetched, but a flood of unknown ones fetches only now and then', async () => {
  const signer = new PlayedSigner();
  const { external, clock } = await start(signer);
  signer.keys = [{ id: 'one' }, { id: 'new' }];
  assert.deepEqual(idsOf(await external.keys('new')), ['new']);
  const { length } = signer.calls;
  for (let i = 0; i < 100; i++) assert.deepEqual(await external.keys(`made up ${i}`), []);
  const fetched = signer.calls.length - length;
  assert.ok(fetched > 0 && fetched <= 10, `${fetched}`);
  await clock.move(2_000);
  await external.keys('made up');
  assert.ok(signer.calls.length > length + fetched);
});

test('a signer that is not there, or has nothing of use, fails the start', async () => {
  const failing = (change: (signer: PlayedSigner) => void): Promise<unknown> => {
    const signer = new PlayedSigner();
    change(signer);
    return start(signer);
  };
  const gone = (signer: PlayedSigner): void => void (signer.fails = new SignerError('DeadlineExceeded', 'nobody'));
  await assert.rejects(failing(gone), /while initially filling key cache: .*code = DeadlineExceeded desc = nobody$/);
  await assert.rejects(
    failing((signer) => (signer.keys = [])),
    /found no keys$/,
  );
  await assert.rejects(
    failing((signer) => (signer.refreshSeconds = 0)),
    /found invalid refresh hint \(0s\)$/,
  );
  await assert.rejects(
    failing((signer) => (signer.keys = [{ id: 'x'.repeat(1025) }])),
    /found invalid public key id/,
  );
  await assert.rejects(
    failing((signer) => (signer.maxSeconds = 599)),
    /max token life supported by external-jwt-signer \(599s\) is less than acceptable \(min 600s\)/,
  );
});

test('what it signs is a token, and a wrong answer is refused', async () => {
  const signer = new PlayedSigner();
  const { external, observed } = await start(signer);
  const { token, id } = await external.issue(REQUEST);
  assert.equal(id, 'id');
  const [header = '', , signature] = token.split('.');
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), signer.header);
  assert.equal(signature, 'c2ln');
  assert.equal(observed.at(-1), 'signed OK');
  const wrong = async (change: (signer: PlayedSigner) => void, why: RegExp): Promise<void> => {
    const { rawHeader, header: known, signature: good } = new PlayedSigner();
    Object.assign(signer, { rawHeader, header: known, signature: good, fails: undefined });
    change(signer);
    await assert.rejects(external.issue(REQUEST), why);
  };
  const fields = { alg: 'ES256', kid: 'one', typ: 'JWT' };
  await wrong((one) => (one.signature = ''), /^Error: empty signature returned$/);
  await wrong((one) => (one.rawHeader = '!'), /while unwrapping header: illegal base64 data at input byte 0/);
  await wrong((one) => (one.header = { ...fields, more: 1 }), /unknown field "more"/);
  await wrong((one) => (one.header = { ...fields, typ: 'other' }), /bad type/);
  await wrong((one) => (one.header = { ...fields, kid: '' }), /key id missing/);
  await wrong((one) => (one.header = { ...fields, alg: 'none' }), /bad signing algorithm "none"/);
  assert.equal(observed.at(-1), 'signed unknown-non-grpc');
  signer.keys = [{ id: 'one' }, { id: 'hidden', unpublished: true }];
  await wrong(
    (one) => (one.header = { ...fields, kid: 'hidden' }),
    /\(kid: hidden\) is excluded from OIDC discovery docs/,
  );
  await wrong(
    (one) => (one.fails = new SignerError('Internal', 'broken')),
    /while signing jwt: rpc error: code = Internal/,
  );
  assert.equal(observed.at(-1), 'signed Internal');
});
