// `binnacle encryption …`: keys of encryption at rest, on a running server.
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../config/config-error.js';
import { type ClientConfig, clientConfigOf, clientOf } from '../../config/client-config.js';
import { loadKubeconfig } from '../../config/kubeconfig.js';
import type { RemovalAnswer, ResourceUse, RewriteProgress } from '../../encryption/rotation.js';
import { errorText } from '../../lib/text/error-text.js';
import { directDialer } from '../../outbound/dialer.js';
import { collectBody, type HttpClient } from '../../outbound/http-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { ENCRYPTION_PATH } from '../paths/encryption-paths.js';
import type { CommandParts } from './subcommand.js';

const USAGE = `Keys of encryption at rest, on a running server.

  binnacle encryption status                      how many stored objects each key has encrypted
  binnacle encryption rewrite [--rate=100]        moves what is not under the first key to it, at most so many a second
  binnacle encryption may-remove PROVIDER [KEY]   whether a key may be removed from the configuration

  --kubeconfig=FILE   the server and user; by default $KUBECONFIG or ~/.kube/config
`;

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10 * 60_000;
const POLL_MS = 1_000;
/** A server that is being started again has so long. */
const MAX_AWAY_MS = 2 * 60_000;

/** Answers the exit code. */
export async function runEncryptionCommand(args: readonly string[], parts: CommandParts): Promise<number> {
  const words = args.filter((arg) => !arg.startsWith('--'));
  const flags = new Map(args.filter((arg) => arg.startsWith('--')).map(splitFlag));
  const [command, provider, key] = words;
  const unknown = [...flags.keys()].find((name) => name !== '--kubeconfig' && name !== '--rate');
  if (unknown !== undefined || command === undefined) {
    parts.printError(unknown === undefined ? USAGE : `unknown flag: ${unknown}\n\n${USAGE}`);
    return 2;
  }
  try {
    const server = new Server(clientConfigOf(loadKubeconfig(flags.get('--kubeconfig') ?? defaultFile(parts.env))));
    switch (command) {
      case 'status':
        return await status(server, parts);
      case 'rewrite':
        return await rewrite(server, flags.get('--rate') ?? '100', parts);
      case 'may-remove':
        if (provider === undefined) break;
        return await mayRemove(server, provider, key, parts);
    }
    parts.printError(USAGE);
    return 2;
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof OutboundError || error instanceof Refused)) throw error;
    parts.printError(`error: ${error.message}\n`);
    return 1;
  }
}

async function status(server: Server, { print }: CommandParts): Promise<number> {
  const { resources } = await server.get<{ resources: readonly ResourceUse[] }>('');
  for (const { resource, keys } of resources) {
    print(`${resource}\n`);
    for (const use of keys) {
      const remark = use.writes ? '  writes' : use.known ? '' : '  cannot be read';
      print(`  ${String(use.objects).padStart(9)}  ${nameOf(use)}${remark}\n`);
    }
  }
  return 0;
}

const nameOf = ({ provider, key }: { provider: string; key?: string }): string =>
  key === undefined ? provider : `${provider} ${key}`;

async function rewrite(server: Server, rate: string, { print, printError }: CommandParts): Promise<number> {
  const begin = `/rewrite?objectsPerSecond=${encodeURIComponent(rate)}`;
  let progress = await server.post<RewriteProgress>(begin);
  let awayMs = 0;
  while (progress.state === 'running') {
    print(`${progress.looked} looked at, ${progress.rewritten} rewritten, ${progress.failed} failed\n`);
    await delay(POLL_MS);
    try {
      progress = await server.get<RewriteProgress>('/rewrite');
      awayMs = 0;
      // It was started anew meanwhile: what was done is done.
      if (progress.state === 'never') progress = await server.post<RewriteProgress>(begin);
    } catch (error) {
      awayMs += POLL_MS;
      if (!(error instanceof OutboundError) || awayMs > MAX_AWAY_MS) throw error;
      printError(`the server is away, waiting for it: ${errorText(error)}\n`);
    }
  }
  for (const { key, message } of progress.failures) printError(`${key}: ${message}\n`);
  print(`${progress.state}: ${progress.rewritten} of ${progress.looked} rewritten, ${progress.failed} failed\n`);
  return progress.state === 'done' && progress.failed === 0 ? 0 : 1;
}

async function mayRemove(
  server: Server,
  provider: string,
  key: string | undefined,
  { print }: CommandParts,
): Promise<number> {
  const query = new URLSearchParams({ provider, ...(key !== undefined && { key }) });
  const answer = await server.get<RemovalAnswer>(`/removal?${query.toString()}`);
  print(`${answer.mayRemove ? 'yes' : 'no'}: ${answer.because}\n`);
  for (const name of answer.inTheWay) print(`  ${name}\n`);
  if (answer.objects > answer.inTheWay.length) print(`  and ${answer.objects - answer.inTheWay.length} more\n`);
  return answer.mayRemove ? 0 : 1;
}

const splitFlag = (flag: string): [string, string] => {
  const at = flag.indexOf('=');
  return at < 0 ? [flag, ''] : [flag.slice(0, at), flag.slice(at + 1)];
};

const defaultFile = (env: CommandParts['env']): string =>
  env['KUBECONFIG']?.split(path.delimiter)[0] ?? path.join(env['HOME'] ?? os.homedir(), '.kube', 'config');

/** The server understood and said no. */
class Refused extends Error {}

class Server {
  readonly #client: HttpClient;

  constructor(readonly config: ClientConfig) {
    this.#client = clientOf(config, directDialer);
  }

  get<T>(at: string): Promise<T> {
    return this.#call('GET', at);
  }

  post<T>(at: string): Promise<T> {
    return this.#call('POST', at);
  }

  async #call<T>(method: string, at: string): Promise<T> {
    const url = new URL(`${ENCRYPTION_PATH}${at}`, this.config.server);
    const response = await this.#client.request({ method, url, timeoutMs: REQUEST_TIMEOUT_MS });
    const text = (await collectBody(response, MAX_ANSWER_BYTES)).toString();
    if (response.status === 404) throw new Refused('the server has no encryption configuration');
    if (response.status >= 300) throw new Refused(messageOf(text));
    return JSON.parse(text) as T;
  }
}

function messageOf(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message);
  } catch {
    return text.trim();
  }
}
