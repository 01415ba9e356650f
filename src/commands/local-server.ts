// The server of a data folder on this machine. What is known of it is in the folder itself: the lock says which process it
// is, the administrator's kubeconfig where it serves.
import fs from 'node:fs';
import path from 'node:path';
import { clientConfigOf, clientOf } from '../config/client-config.js';
import { loadKubeconfig } from '../config/kubeconfig.js';
import { folderHolder } from '../kv/embedded/folder-lock.js';
import { defaultDataDir } from '../options/complete-options.js';
import { directDialer } from '../outbound/dialer.js';
import { collectBody } from '../outbound/http-client.js';
import { OutboundError } from '../outbound/outbound-error.js';
import type { CommandParts } from './command.js';
import { failuresInWords } from './failures-in-words.js';

const PROBE_TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** `unknown`: there is no administrator's kubeconfig to ask with, as where `--client-ca-file` names other clients. */
export type Readiness = 'ready' | 'not ready' | 'unknown';

export class LocalServer {
  readonly dataDir: string;
  readonly kubeconfigFile: string;
  readonly logFile: string;

  /** `given`: what `--data-dir` says; empty where it says nothing. */
  constructor(given: string, env: CommandParts['env']) {
    this.dataDir = path.resolve(given === '' ? defaultDataDir(env) : given);
    this.kubeconfigFile = path.join(this.dataDir, 'admin.kubeconfig');
    this.logFile = path.join(this.dataDir, 'server.log');
  }

  /** The process that has the folder open. Fails when it hangs. */
  pid(): Promise<number | undefined> {
    return failuresInWords(() => folderHolder(this.dataDir));
  }

  /** Where it serves, or served last. */
  url(): string | undefined {
    if (!fs.existsSync(this.kubeconfigFile)) return undefined;
    return clientConfigOf(loadKubeconfig(this.kubeconfigFile)).server.href.replace(/\/$/, '');
  }

  async readiness(): Promise<Readiness> {
    if (!fs.existsSync(this.kubeconfigFile)) return 'unknown';
    return (await this.#get('/readyz'))?.status === 200 ? 'ready' : 'not ready';
  }

  /** The release it says it is; undefined while it does not answer. */
  async gitVersion(): Promise<string | undefined> {
    if (!fs.existsSync(this.kubeconfigFile)) return undefined;
    const answer = await this.#get('/version');
    if (answer?.status !== 200) return undefined;
    return (JSON.parse(answer.text) as { gitVersion?: string }).gitVersion;
  }

  /** Undefined when nobody answers. */
  async #get(at: string): Promise<{ readonly status: number; readonly text: string } | undefined> {
    const config = clientConfigOf(loadKubeconfig(this.kubeconfigFile));
    const client = clientOf(config, directDialer);
    try {
      const url = new URL(at, config.server);
      const response = await client.request({ method: 'GET', url, timeoutMs: PROBE_TIMEOUT_MS });
      const body = await collectBody(response, MAX_ANSWER_BYTES);
      return { status: response.status, text: body.toString() };
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    } finally {
      client.close();
    }
  }
}
