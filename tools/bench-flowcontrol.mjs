// What a request that need not wait pays for its classification and its seat: `node tools/bench-flowcontrol.mjs`.
// The limit is 3 µs, also with 1,000 flow schemas.
import { loadSource } from './bundle.mjs';

const LIMIT_US = 3;
const {
  FlowControl,
  flowControlMetrics,
  MetricRegistry,
  monotonicClock,
  MANDATORY_FLOW_SCHEMAS,
  MANDATORY_PRIORITY_LEVELS,
  FLOW_SCHEMAS,
  PRIORITY_LEVELS,
  estimateWork,
} = await loadSource(
  'src/flowcontrol/flow-control.ts',
  'src/flowcontrol/metrics.ts',
  'src/flowcontrol/work-estimate.ts',
  'src/lib/telemetry/metrics.ts',
  'src/lib/async/clock.ts',
  'src/apis/flowcontrol/mandatory.ts',
  'src/bootstrap/flow-control/default-configuration.ts',
);
const info = {
  isResourceRequest: true,
  path: '',
  verb: 'get',
  apiGroup: '',
  apiVersion: 'v1',
  namespace: 'team',
  resource: 'pods',
  subresource: '',
  name: 'a',
};
const users = Array.from({ length: 100 }, (_, i) => ({ name: `user-${i}`, groups: ['dev', 'system:authenticated'] }));
const extra = (i) => ({
  metadata: { name: `extra-${i}`, uid: `uid-${i}` },
  spec: {
    matchingPrecedence: 1000 + i,
    priorityLevelConfiguration: { name: 'workload-low' },
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: `somebody-${i}` } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
      },
    ],
  },
});
for (const more of [0, 1000]) {
  const control = new FlowControl({
    totalSeats: 600,
    mandatory: { levels: MANDATORY_PRIORITY_LEVELS, schemas: MANDATORY_FLOW_SCHEMAS },
    metrics: flowControlMetrics(new MetricRegistry()),
    clock: monotonicClock,
  });
  const stored = (objects) =>
    objects.map(({ object }, i) => ({ ...object, metadata: { ...object.metadata, uid: String(i) } }));
  control.configure(stored(PRIORITY_LEVELS), [
    ...stored(FLOW_SCHEMAS),
    ...Array.from({ length: more }, (_, i) => extra(i)),
  ]);
  const sources = { stored: () => undefined, watches: () => 0, observeWatches: () => undefined };
  const once = (i) => {
    const user = users[i % users.length];
    const schema = control.classify(info, user);
    const estimate = estimateWork(info, schema.level.maxSeats, () => undefined, sources);
    const subject = { info, user, metrics: schema.metrics };
    const ticket = schema.level.ticket(
      schema.name,
      schema.distinguisherOf(info, user),
      estimate,
      subject,
      () => undefined,
    );
    if (schema.level.enter(ticket) !== 'execute') throw new Error('it had to wait');
    schema.level.finish(ticket);
  };
  let best = Infinity;
  for (let round = 0; round < 8; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < 100_000; i++) once(i);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 100_000 / 1000);
  }
  console.log(`${FLOW_SCHEMAS.length + more} flow schemas: ${best.toFixed(2)} µs a request (limit ${LIMIT_US})`);
  if (best > LIMIT_US) process.exitCode = 1;
}
