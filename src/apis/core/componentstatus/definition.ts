import { errorText } from '../../../lib/text/error-text.js';
import { directDialer } from '../../../outbound/dialer.js';
import { collectBody, HttpClient } from '../../../outbound/http-client.js';
import { OutboundError, requestErrorText } from '../../../outbound/outbound-error.js';
import { deprecated } from '../../../registry/deprecated-version.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { column, NAME_COLUMN } from '../../../registry/columns.js';
import type { ComponentStatus } from '../../../schema/generated/core.v1.js';

const PROBE_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 10 * 1024;

export interface ComponentStatusParts {
  /** Whether each store answers, by name (`etcd-0`); throws the reason when it does not. */
  readonly stores: () => Readonly<Record<string, () => Promise<void>>>;
}

/** The health of what runs beside the server, checked anew by every request. Deprecated, and still served. */
export const componentStatusKind = ({ stores }: ComponentStatusParts): KindDefinition<ComponentStatus> => ({
  group: '',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  singular: 'componentstatus',
  shortNames: ['cs'],
  namespaced: false,
  verbs: ['get', 'list'],
  versions: [{ version: 'v1', ...deprecated('v1 ComponentStatus', { in: '1.19' }) }],
  storageVersion: 'v1',
  strategy: { validate: () => [], validateUpdate: () => [] },
  virtual: {
    objects: async () => {
      const client = new HttpClient({ dialer: directDialer, tls: () => ({ insecure: true, ca: '' }) });
      const probes: Record<string, () => Promise<string>> = {
        'controller-manager': () => getHealth(client, 10257),
        scheduler: () => getHealth(client, 10259),
      };
      for (const [name, check] of Object.entries(stores())) probes[name] = () => check().then(() => 'ok');
      try {
        return await Promise.all(Object.entries(probes).map(([name, probe]) => statusOf(name, probe)));
      } finally {
        client.close();
      }
    },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Status', 'Status of the component conditions'),
      column('Message', 'Message of the component conditions'),
      column('Error', 'Error of the component conditions'),
    ],
    row: ({ metadata, conditions }) => {
      const healthy = (conditions ?? []).find(({ type }) => type === 'Healthy');
      const state = healthy === undefined ? 'Unknown' : healthy.status === 'True' ? 'Healthy' : 'Unhealthy';
      return [metadata.name ?? '', state, healthy?.message ?? '', healthy?.error ?? ''];
    },
  },
});

async function statusOf(name: string, probe: () => Promise<string>): Promise<ComponentStatus> {
  const condition = await probe().then(
    (message) => ({ status: 'True', message }),
    (error: unknown) => failed(error),
  );
  const status: ComponentStatus = {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [{ type: 'Healthy', ...condition }],
  };
  return status;
}

const failed = (error: unknown): { status: string; message: string } => ({
  status: 'False',
  message: errorText(error),
});

/** The components listen on the same host with certificates of their own making. */
async function getHealth(client: HttpClient, port: number): Promise<string> {
  const url = new URL(`https://127.0.0.1:${port}/healthz`);
  try {
    const response = await client.request({ method: 'GET', url, timeoutMs: PROBE_TIMEOUT_MS });
    const text = (await collectBody(response, MAX_ANSWER_BYTES)).toString('utf8');
    if (response.status === 200) return text;
    throw new Error(`HTTP probe failed with statuscode: ${response.status}`);
  } catch (error) {
    throw error instanceof OutboundError ? new Error(requestErrorText('GET', url, error)) : error;
  }
}
