// Measures the codecs on a pod of about 3 KiB against JSON.parse, JSON.stringify and protobufjs: `node tools/bench-codec.mjs`.
import protobuf from 'protobufjs';
import { loadSource } from './bundle.mjs';

const { typeOf, decodeJson, encodeJson, encodeMessage, decodeMessage } = await loadSource(
  'src/schema/catalogue.ts',
  'src/schema/json/decode.ts',
  'src/schema/json/encode.ts',
  'src/schema/protobuf/encode.ts',
  'src/schema/protobuf/decode.ts',
);

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

const message = encodeMessage(type, object);
const theirs = protobufType(type);
const decoded = theirs.decode(message);
const protoEncode = measure('protobufjs encode', () => theirs.encode(decoded).finish());
const ownEncode = measure('encodeMessage', () => encodeMessage(type, object));
const protoDecode = measure('protobufjs decode', () => theirs.decode(message));
const ownDecode = measure('decodeMessage', () => decodeMessage(type, message));
report('protobuf encode / protobufjs', ownEncode / protoEncode, 1);
report('protobuf decode / protobufjs', ownDecode / protoDecode, 1);

/** The same messages for protobufjs, which compiles static code for them. */
function protobufType(root) {
  const namespace = new protobuf.Root();
  const made = new Map();
  const special = {
    quantity: [['string', 'string', 1]],
    time: [
      ['seconds', 'int64', 1],
      ['nanos', 'int32', 2],
    ],
    microTime: [
      ['seconds', 'int64', 1],
      ['nanos', 'int32', 2],
    ],
    duration: [['duration', 'int64', 1]],
    intOrString: [
      ['type', 'int64', 1],
      ['intVal', 'int32', 2],
      ['strVal', 'string', 3],
    ],
    rawExtension: [['raw', 'bytes', 1]],
    fieldsV1: [['raw', 'bytes', 1]],
  };
  const nameOf = (fieldType) => {
    if (fieldType.kind === 'struct') return messageOf(fieldType);
    if (fieldType.kind !== 'scalar') throw new Error(fieldType.kind);
    const fields = special[fieldType.scalar];
    if (fields === undefined) return fieldType.scalar;
    if (!made.has(fieldType.scalar)) {
      const own = new protobuf.Type(`S_${fieldType.scalar}`);
      for (const [name, scalar, id] of fields) own.add(new protobuf.Field(name, id, scalar));
      namespace.add(own);
      made.set(fieldType.scalar, own.name);
    }
    return made.get(fieldType.scalar);
  };
  function messageOf(struct) {
    if (made.has(struct)) return made.get(struct);
    const own = new protobuf.Type(struct.name.split('.').at(-1));
    made.set(struct, own.name);
    namespace.add(own);
    for (const field of struct.fields) {
      if (field.proto === 0 || field.embedded) continue;
      const { type: fieldType, json, proto } = field;
      if (fieldType.kind === 'list')
        own.add(new protobuf.Field(json, proto, nameOf(fieldType.element), 'repeated', undefined, { packed: false }));
      else if (fieldType.kind === 'map') own.add(new protobuf.MapField(json, proto, 'string', nameOf(fieldType.value)));
      else own.add(new protobuf.Field(json, proto, nameOf(fieldType)));
    }
    for (const { proto, type: inlined } of struct.embedded)
      own.add(new protobuf.Field(`embedded${proto}`, proto, messageOf(inlined)));
    return own.name;
  }
  messageOf(root);
  namespace.resolveAll();
  return namespace.lookupType(root.name.split('.').at(-1));
}

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
