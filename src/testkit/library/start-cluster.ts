import { EXEMPT_AGENT } from '../../filters/exempt-agent.js';
import type { ClusterFacts, StartRequest } from '../protocol/control.js';
import { ApiClient } from './api-client.js';
import { apply } from './apply.js';
import { ownHost } from './own-host.js';
import type { ControlClient } from './control-client.js';
import type {
  AuditEvent,
  Cluster,
  ClusterOptions,
  FaultSettings,
  FaultsState,
  ResetResult,
  Snapshot,
} from './types.js';
import { waitFor } from './wait-for.js';

/** Starts a throwaway cluster: an API server of its own, empty but for what every cluster has. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const host = await ownHost();
  return openCluster(host.control, await requestCluster(host.control, options), options);
}

export function requestCluster(control: ControlClient, options: ClusterOptions): Promise<ClusterFacts> {
  const { flags = [], emulatedVersion, auditLevel } = options;
  const emulated = emulatedVersion === undefined ? [] : [`--emulated-version=${emulatedVersion}`];
  const request: StartRequest = { flags: [...flags, ...emulated], ...(auditLevel !== undefined && { auditLevel }) };
  return control.send<ClusterFacts>('POST', '/v1/clusters', request);
}

/** A cluster that runs, with its manifests applied; one whose manifests cannot be is stopped. */
export async function openCluster(
  control: ControlClient,
  facts: ClusterFacts,
  { manifests, faults }: Pick<ClusterOptions, 'manifests' | 'faults'>,
): Promise<Cluster> {
  const cluster = new RunningCluster(control, facts);
  try {
    if (manifests !== undefined) await cluster.apply(manifests);
    if (faults !== undefined) await cluster.setFaults(faults);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

class RunningCluster implements Cluster {
  readonly url: string;
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
  readonly token: string;
  readonly ca: string;
  readonly logPath: string;
  readonly #control: ControlClient;
  readonly #path: string;
  readonly #api: ApiClient;
  /** Of what sets a test up, which faults do not hit. */
  readonly #helper: ApiClient;
  #stopping: Promise<void> | undefined;

  constructor(control: ControlClient, { id, url, kubeconfig, kubeconfigPath, token, ca, logPath }: ClusterFacts) {
    this.url = url;
    this.kubeconfig = kubeconfig;
    this.kubeconfigPath = kubeconfigPath;
    this.token = token;
    this.ca = ca;
    this.logPath = logPath;
    this.#control = control;
    this.#path = `/v1/clusters/${id}`;
    this.#api = new ApiClient({ url, token, ca });
    this.#helper = new ApiClient({ url, token, ca, userAgent: EXEMPT_AGENT });
  }

  apply: Cluster['apply'] = (manifests) => apply(this.#helper, manifests);

  waitFor: Cluster['waitFor'] = (object, condition, options = {}) => waitFor(this.#helper, object, condition, options);

  request: Cluster['request'] = (method, path, body, headers) => this.#api.request(method, path, { body, headers });

  snapshot(): Promise<Snapshot> {
    return this.#control.send<Snapshot>('POST', `${this.#path}/snapshots`);
  }

  reset(snapshot: Snapshot): Promise<ResetResult> {
    return this.#control.send<ResetResult>('POST', `${this.#path}/reset`, { snapshot: snapshot.id });
  }

  async fork(snapshot?: Snapshot): Promise<Cluster> {
    const request = snapshot === undefined ? {} : { snapshot: snapshot.id };
    return new RunningCluster(
      this.#control,
      await this.#control.send<ClusterFacts>('POST', `${this.#path}/fork`, request),
    );
  }

  setFaults(settings: FaultSettings): Promise<FaultsState> {
    return this.#control.send<FaultsState>('PUT', `${this.#path}/faults`, settings);
  }

  faults(): Promise<FaultsState> {
    return this.#control.send<FaultsState>('GET', `${this.#path}/faults`);
  }

  audit(): Promise<AuditEvent[]> {
    return this.#control.send<AuditEvent[]>('GET', `${this.#path}/audit`);
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#api.close();
    this.#helper.close();
    await this.#control.send('DELETE', this.#path);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
