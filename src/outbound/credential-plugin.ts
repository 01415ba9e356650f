// A program that says who we are to another server: run when its word is needed, and believed until it expires.
import { spawn } from 'node:child_process';
import { isPlainObject } from '../lib/values/plain-object.js';
import type { ClientTls } from './client-tls.js';
import { OutboundError } from './outbound-error.js';

export interface CredentialPluginOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The ExecCredential version of input and output, `client.authentication.k8s.io/v1`. */
  readonly apiVersion: string;
  /** The plugin requires an interactive terminal, which a server does not have. */
  readonly needsTerminal: boolean;
  /** Added to the error when the program does not exist. */
  readonly installHint: string;
  /** The cluster that the plugin's input describes, where its configuration says so. */
  readonly cluster?: object;
  readonly nowMs: () => number;
}

/** A token, a certificate, or both. */
export interface Credentials {
  readonly token: string;
  readonly tls: Pick<ClientTls, 'cert' | 'key'>;
  readonly expiresAtMs: number;
}

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const INFO = 'KUBERNETES_EXEC_INFO';

export class CredentialPlugin {
  readonly #options: CredentialPluginOptions;
  #known: Credentials | undefined;
  #running: Promise<Credentials> | undefined;

  constructor(options: CredentialPluginOptions) {
    this.#options = options;
  }

  /** Concurrent callers share one run. Rejects with an OutboundError. */
  async get(): Promise<Credentials> {
    if (this.#known !== undefined && this.#options.nowMs() <= this.#known.expiresAtMs) return this.#known;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** The server rejected the credentials: the next `get` runs the plugin again. */
  refused(credentials: Credentials | undefined): void {
    if (this.#known === credentials) this.#known = undefined;
  }

  get known(): Credentials | undefined {
    return this.#known;
  }

  async #run(): Promise<Credentials> {
    try {
      const { needsTerminal, apiVersion } = this.#options;
      if (needsTerminal)
        throw new Error('exec plugin cannot support interactive mode: standard input is not a terminal');
      this.#known = credentialsIn(await outputOf(this.#options), apiVersion);
      return this.#known;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new OutboundError('protocol', `getting credentials: ${why}`, error);
    }
  }
}

function outputOf({ command, args, env, apiVersion, cluster, installHint }: CredentialPluginOptions): Promise<string> {
  const spec = { interactive: false, ...(cluster !== undefined && { cluster }) };
  const asked = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env, [INFO]: asked },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pieces: Buffer[] = [];
    let length = 0;
    const giveUp = (why: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      child.stdout.destroy();
      reject(new Error(`exec: executable ${command} ${why}`));
    };
    const timer = setTimeout(() => giveUp(`was not done within ${TIMEOUT_MS / 1000} seconds`), TIMEOUT_MS);
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > MAX_OUTPUT_BYTES) giveUp(`said more than ${MAX_OUTPUT_BYTES} bytes`);
      else pieces.push(piece);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      const hint = installHint === '' ? '' : `\n\n${installHint}`;
      giveUp(error.code === 'ENOENT' ? `not found${hint}` : `could not be run: ${error.message}`);
    });
    child.once('close', (code, signal) => {
      if (code !== 0) return giveUp(`failed with exit code ${signal === null ? code : -1}`);
      clearTimeout(timer);
      resolve(Buffer.concat(pieces).toString('utf8'));
    });
  });
}

function credentialsIn(output: string, apiVersion: string): Credentials {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch (error) {
    throw new Error(`decoding stdout: ${error instanceof Error ? error.message : ''}`, { cause: error });
  }
  if (!isPlainObject(answer) || answer.kind !== 'ExecCredential') throw new Error('decoding stdout: no ExecCredential');
  if (answer.apiVersion !== apiVersion) {
    const returned = String(answer.apiVersion);
    throw new Error(`exec plugin is configured to use API version ${apiVersion}, plugin returned version ${returned}`);
  }
  const { status } = answer;
  if (!isPlainObject(status)) throw new Error("exec plugin didn't return a status field");
  const text = (name: string): string => (typeof status[name] === 'string' ? status[name] : '');
  const [token, cert, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if (token === '' && cert === '' && key === '') throw new Error("exec plugin didn't return a token or cert/key pair");
  if ((cert === '') !== (key === '')) throw new Error('exec plugin returned only certificate or key, not both');
  const expires = text('expirationTimestamp');
  const expiresAtMs = expires === '' ? Infinity : Date.parse(expires);
  if (Number.isNaN(expiresAtMs))
    throw new Error(`decoding stdout: expirationTimestamp ${JSON.stringify(expires)} is no time`);
  return { token, tls: cert === '' ? {} : { cert, key }, expiresAtMs };
}
