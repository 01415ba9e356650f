import https from 'node:https';
import { errorText } from '../../../lib/error-text.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { column, NAME_COLUMN } from '../../../registry/columns.js';
import type { ComponentStatus } from '../../../schema/generated/core.v1.js';

const PROBE_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 10 * 1024;

export interface ComponentStatusParts {
  /** Whether each store answers, by name (`etcd-0`); throws the reason when it does not. */
  readonly stores: () => Readonly<Record<string, () => Promise<void>>>;
}

/** The health of what runs beside the server, asked for anew by every request. Deprecated long ago, and still served. */
export const componentStatusKind = ({ stores }: ComponentStatusParts): KindDefinition<ComponentStatus> => ({
  group: '',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  singular: 'componentstatus',
  shortNames: ['cs'],
  namespaced: false,
  verbs: ['get', 'list'],
  versions: [{ version: 'v1', deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+' }],
  storageVersion: 'v1',
  strategy: { validate: () => [], validateUpdate: () => [] },
  computed: async () => {
    const probes: Record<string, () => Promise<string>> = {
      'controller-manager': () => askHealth(10257),
      scheduler: () => askHealth(10259),
    };
    for (const [name, check] of Object.entries(stores())) probes[name] = () => check().then(() => 'ok');
    return Promise.all(Object.entries(probes).map(([name, probe]) => statusOf(name, probe)));
  },
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
function askHealth(port: number): Promise<string> {
  const url = `https://127.0.0.1:${port}/healthz`;
  return new Promise((resolve, reject) => {
    const request = https.get(url, { rejectUnauthorized: false, timeout: PROBE_TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        if (text.length < MAX_ANSWER_BYTES) text += piece;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`HTTP probe failed with statuscode: ${response.statusCode ?? 0}`));
      });
    });
    request.on('timeout', () => request.destroy(new Error('timed out')));
    request.on('error', ({ message, ...error }) => {
      const code = (error as { code?: string }).code;
      const why = code === 'ECONNREFUSED' ? `dial tcp 127.0.0.1:${port}: connect: connection refused` : message;
      reject(new Error(`Get "${url}": ${why}`));
    });
  });
}
